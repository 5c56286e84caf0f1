import { registry } from "../../base/registry.ts";
import type { Filter } from "./filter.ts";

/** All filters of groups. */
export const filters = registry<Filter>("filter", {
  "zero-variance": async () => (await import("./zero-variance.ts")).zeroVariance,
  "mean-band": async () => (await import("./mean-band.ts")).meanBand,
  "top-deviation": async () => (await import("./top-deviation.ts")).topDeviation,
});
