import { registry } from "../../base/registry.ts";
import type { SamplerPart } from "./sampler.ts";

/** All samplers. */
export const samplers = registry<SamplerPart>("sampler", {
  shuffled: async () => (await import("./shuffled.ts")).shuffled,
  "greedy-baseline": async () => (await import("./greedy-baseline.ts")).greedyBaseline,
  refill: async () => (await import("./refill.ts")).refill,
  "screen-continue": async () => (await import("./screen-continue.ts")).screenContinue,
  "success-band": async () => (await import("./success-band.ts")).successBand,
});
