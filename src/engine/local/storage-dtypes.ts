import type { HalfType } from "../../autodiff/frozen.ts";
import { ConfigError } from "../../base/errors.ts";
import type { DeviceName } from "../../onnx/device-names.ts";

/** Storage dtype of frozen weights. `auto`: the checkpoint's dtype, without rounding. */
export const storageDtypes = ["float32", "float16", "bfloat16", "auto"] as const satisfies (
  "float32" | "auto" | HalfType
)[];
export type StorageDtype = (typeof storageDtypes)[number];

/** Matrices that sampling uses: the weights, or copies of 8 bits. */
export const samplingWeightTypes = ["float32", "int8"] as const;
export type SamplingWeightType = (typeof samplingWeightTypes)[number];

/** @throws {ConfigError} RECIPE_BAD_VALUE for 8 bits on another device than the CPU. */
export function requireSampling(asked: SamplingWeightType, device: DeviceName): void {
  if (asked === "float32" || device === "cpu") return;
  const message = `engine.samplingWeights is "${asked}", but the device is ${device}: only the CPU samples in 8 bits. Use float32, or engine.device: cpu.`;
  throw new ConfigError("RECIPE_BAD_VALUE", message);
}
