import type { HalfType } from "../../autodiff/frozen.ts";

/** How weights are held that nobody trains. `auto`: as the checkpoint stores them, so that nothing is rounded. */
export const frozenWeightTypes = ["float32", "float16", "bfloat16", "auto"] as const satisfies (
  "float32" | "auto" | HalfType
)[];
export type FrozenWeights = (typeof frozenWeightTypes)[number];
