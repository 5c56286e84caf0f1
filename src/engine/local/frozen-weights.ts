import { halfTypes, storageOf, type HalfType } from "../../autodiff/frozen.ts";
import { ConfigError } from "../../base/errors.ts";
import { readHalfWeights, storedTypeOf } from "../../models/checkpoint.ts";
import type { DecoderConfig } from "../../models/config.ts";
import { widen, type StoredType } from "../../models/stored-numbers.ts";
import type { DeviceName } from "../../onnx/device-names.ts";
import type { Device } from "../../onnx/device.ts";
import type { Tensor } from "../../onnx/session.ts";
import type { StorageDtype } from "./storage-dtypes.ts";
import type { ModelWeights } from "./model-weights.ts";
import { parameterTensors } from "./parameter-tensors.ts";

const STORED = { float16: "F16", bfloat16: "BF16" } as const;

/**
 * The type of 16 bits in which frozen matrices are held; null for float32.
 *
 * @param stored type of the checkpoint's matrices; null where they have several, or nobody knows.
 * @throws {ConfigError} RECIPE_BAD_VALUE for bfloat16 on a device that has no such type.
 */
export function heldType(
  asked: StorageDtype,
  device: DeviceName,
  stored: StoredType | null,
): HalfType | null {
  const lacksBfloat = device === "webgpu";
  if (asked === "bfloat16" && lacksBfloat) {
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `engine.frozenWeights is "bfloat16", a type that ${device} does not have. Take float16 (of bfloat16, only numbers below 8e-6 are rounded then) or float32.`,
    );
  }
  if (asked !== "auto") return asked === "float32" ? null : asked;
  const own = halfTypes.find((type) => STORED[type] === stored) ?? null;
  return own === "bfloat16" && lacksBfloat ? null : own;
}

/** As `heldType`, of a folder's weights. @throws {DataError} what opening its files throws. */
export async function storageDtypeOf(
  asked: StorageDtype,
  device: DeviceName,
  folder: string,
): Promise<HalfType | null> {
  return heldType(asked, device, asked === "auto" ? await storedTypeOf(folder) : null);
}

/**
 * A folder's model of which nothing is trained, its matrices held in 16 bits, in one layout.
 * @throws {DataError} WEIGHT_TOO_LARGE for a number that float16 cannot hold; what `readWeights` throws.
 * @throws {ConfigError} RECIPE_BAD_VALUE where a card does not compute with that type.
 */
export async function frozenWeights(
  config: DecoderConfig,
  folder: string,
  device: Device,
  type: HalfType,
): Promise<ModelWeights> {
  await requireType(device, type);
  const feeds: Record<string, Tensor> = {};
  await readHalfWeights(folder, config, STORED[type], async ({ name, shape }, read) => {
    const isMatrix = shape.length === 2;
    const tensor = await device.zeros(shape, isMatrix ? storageOf(type) : "float32");
    feeds[name] = tensor;
    if (!device.resident) {
      await read(tensor.data as Float32Array | Uint16Array);
      return;
    }
    const numbers = new Float32Array(tensor.size);
    if (isMatrix) {
      const bits = new Uint16Array(tensor.size);
      await read(bits);
      widen(bits, STORED[type], numbers);
    } else await read(numbers);
    await device.write(tensor, numbers);
  });
  const weights: ModelWeights = {
    ...{ lora: null, transposed: false, frozen: type, feeds },
    trained: await parameterTensors(device, []),
    refresh: () => Promise.resolve(),
    // It never changes.
    copy: () => Promise.resolve(weights),
  };
  return weights;
}

/** Not every card computes with 16 bits: one that does not says so when it first should. */
async function requireType(device: Device, type: HalfType): Promise<void> {
  if (!device.resident) return;
  await device.zeros([1], storageOf(type)).catch((cause: unknown) => {
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `engine.frozenWeights: weights were to be held as ${type}, with which the ${device.name} device here does not compute. Take float32, or another device.`,
      { cause },
    );
  });
}
