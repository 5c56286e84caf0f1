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
 * The 16-bit storage dtype of frozen matrices; null for float32. @param stored that of the checkpoint; null when mixed or unknown.
 * @throws {ConfigError} RECIPE_BAD_VALUE for bfloat16 on a device without it.
 */
export function heldType(
  asked: StorageDtype,
  device: DeviceName,
  stored: StoredType | null,
): HalfType | null {
  const lacksBfloat = device === "webgpu";
  if (asked === "bfloat16" && lacksBfloat) {
    const message = `engine.frozenWeights is "bfloat16", which ${device} does not support. Use float16 (it rounds only bfloat16 numbers below 8e-6) or float32.`;
    throw new ConfigError("RECIPE_BAD_VALUE", message);
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

/** Loads a frozen model: matrices in 16 bits and in one layout. @throws WEIGHT_TOO_LARGE beyond float16's range; RECIPE_BAD_VALUE */
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
    lora: null,
    transposed: false,
    frozen: type,
    feeds,
    trained: await parameterTensors(device, []),
    refresh: () => Promise.resolve(),
    // Frozen weights never change.
    copy: () => Promise.resolve(weights),
  };
  return weights;
}

/** Not every GPU supports 16-bit types; the first use reveals it. */
async function requireType(device: Device, type: HalfType): Promise<void> {
  if (!device.resident) return;
  await device.zeros([1], storageOf(type)).catch((cause: unknown) => {
    const message = `engine.frozenWeights: this ${device.name} device does not support ${type}. Use float32 or another device.`;
    throw new ConfigError("RECIPE_BAD_VALUE", message, { cause });
  });
}
