import { registry } from "../../base/registry.ts";
import { greedyBaseline } from "./greedy-baseline.ts";
import { refill } from "./refill.ts";
import type { SamplerPart } from "./sampler.ts";
import { shuffled } from "./shuffled.ts";
import { successBand } from "./success-band.ts";

/** All samplers. */
export const samplers = registry<SamplerPart>("sampler", [
  shuffled,
  greedyBaseline,
  refill,
  successBand,
]);
