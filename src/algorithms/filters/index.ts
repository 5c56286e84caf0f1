import { registry } from "../../base/registry.ts";
import type { Filter } from "./filter.ts";
import { meanBand } from "./mean-band.ts";
import { topDeviation } from "./top-deviation.ts";
import { zeroVariance } from "./zero-variance.ts";

/** All filters of groups. */
export const filters = registry<Filter>("filter", [zeroVariance, meanBand, topDeviation]);
