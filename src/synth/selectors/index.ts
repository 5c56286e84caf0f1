import { registry } from "../../base/registry.ts";
import type { Selector } from "./selector.ts";

/** All ways to choose among a synthesis's samples, or to order them. */
export const sampleSelectors = registry<Selector>("sample selector", []);
