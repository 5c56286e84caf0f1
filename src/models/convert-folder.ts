import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { sizeOf } from "../autodiff/graph.ts";
import { readJson, writeJson } from "../base/files.ts";
import { copyCompanions, readDecoderConfig, storedTypeOf } from "./checkpoint.ts";
import type { DecoderConfig } from "./config.ts";
import { streamSafetensors } from "./safetensors.ts";
import { torchTypes, type StoredType } from "./stored-numbers.ts";
import { openWeightFiles } from "./weight-files.ts";

interface ConvertedFolder {
  config: DecoderConfig;
  /** Dtypes of the folder's matrices with their number, such as `F16` 29. */
  types: ReadonlyMap<string, number>;
  /** Of the matrices that were written. */
  dtype: StoredType;
}

/**
 * Writes a model's folder again with matrices of another dtype; vectors become float32. One tensor at a time is in memory.
 * @param options.dtype default: that of the folder's matrices, and F32 where they are mixed.
 * @throws {DataError} as `readDecoderConfig` and `openWeightFiles`. @throws {ExternalError} FILE_WRITE_FAILED
 */
export async function convertFolder(
  from: string,
  folder: string,
  options: {
    dtype?: StoredType | undefined;
    signal?: AbortSignal | undefined;
    onProgress?: (written: number, total: number) => void;
  } = {},
): Promise<ConvertedFolder> {
  const config = await readDecoderConfig(from);
  const dtype = options.dtype ?? (await storedTypeOf(from)) ?? "F32";
  const files = await openWeightFiles(from);
  try {
    const tensors = [...files.tensors];
    const types = new Map<string, number>();
    for (const [, tensor] of tensors)
      if (tensor.shape.length === 2) types.set(tensor.dtype, (types.get(tensor.dtype) ?? 0) + 1);
    let done = 0;
    const sources = tensors.map(([name, { shape }]) => ({
      name,
      shape,
      dtype: shape.length < 2 ? ("F32" as const) : dtype,
      load: async () => {
        options.signal?.throwIfAborted();
        options.onProgress?.(done++, tensors.length);
        const data = new Float32Array(sizeOf(shape));
        await files.read(name, data);
        return data;
      },
    }));
    await mkdir(folder, { recursive: true });
    const described = (await readJson(join(from, "config.json"))) as Record<string, unknown>;
    const { dtype: _, ...kept } = described;
    await writeJson(join(folder, "config.json"), { ...kept, torch_dtype: torchTypes[dtype] });
    await copyCompanions(from, folder, { replace: true });
    // Last, so that a folder with weights is complete.
    await streamSafetensors(join(folder, "model.safetensors"), sources);
    return { config, types, dtype };
  } finally {
    await files.close();
  }
}
