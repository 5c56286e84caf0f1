import type { HalfType } from "../../autodiff/frozen.ts";

/** Storage dtype of frozen weights. `auto`: the checkpoint's dtype, without rounding. */
export const storageDtypes = ["float32", "float16", "bfloat16", "auto"] as const satisfies (
  "float32" | "auto" | HalfType
)[];
export type StorageDtype = (typeof storageDtypes)[number];

/** What sampling multiplies by: the weights, or copies of 8 bits. */
export const samplingWeightTypes = ["float32", "int8"] as const;
export type SamplingWeightType = (typeof samplingWeightTypes)[number];
