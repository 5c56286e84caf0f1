import type { HalfType } from "../../autodiff/frozen.ts";

/** Storage dtype of frozen weights. `auto`: that of the checkpoint, so that nothing is rounded. */
export const storageDtypes = ["float32", "float16", "bfloat16", "auto"] as const satisfies (
  "float32" | "auto" | HalfType
)[];
export type StorageDtype = (typeof storageDtypes)[number];
