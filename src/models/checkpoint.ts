import { copyFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DataError } from "../base/errors.ts";
import { readJson, writeJson } from "../base/files.ts";
import type { DecoderConfig } from "./config.ts";
import { parseDecoderConfig, toHuggingFaceConfig } from "./config-json.ts";
import { HEAD, parameterSpecs } from "./parameters.ts";
import {
  readSafetensors,
  writeSafetensors,
  type NamedTensor,
  type StoredType,
} from "./safetensors.ts";

/** A model as it lies in a Hugging Face folder. */
export interface Checkpoint {
  config: DecoderConfig;
  /** All parameters in the order of `parameterSpecs`, float32. */
  weights: Float32Array;
}

/** Files that belong to the tokenizer and travel with a checkpoint unchanged. */
const TOKENIZER_FILES = ["tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"];

/**
 * Reads `config.json` and `model.safetensors`.
 * @throws {DataError} CHECKPOINT_MISFIT naming the tensor that is missing, of another shape, or left over.
 */
export async function readCheckpoint(folder: string): Promise<Checkpoint> {
  const configPath = join(folder, "config.json");
  const config = parseDecoderConfig(await readJson(configPath), configPath);
  const path = join(folder, "model.safetensors");
  const tensors = await readSafetensors(path);
  // Some writers store the output matrix beside the embedding that it is tied to.
  if (config.tiedEmbeddings) tensors.delete(HEAD);
  return { config, weights: flatten(config, tensors, path) };
}

/** One array of all parameters. @throws {DataError} CHECKPOINT_MISFIT */
export function flatten(
  config: DecoderConfig,
  tensors: ReadonlyMap<string, NamedTensor>,
  where: string,
): Float32Array {
  const misfit = (what: string): DataError =>
    new DataError(
      "CHECKPOINT_MISFIT",
      `${where}: ${what}. The tensors must be those of the config.json beside it; save or fetch both together.`,
    );
  const specs = parameterSpecs(config);
  const parts = specs.map(({ name, shape }) => {
    const tensor = tensors.get(name);
    if (tensor === undefined) throw misfit(`has no tensor "${name}" [${shape.join(", ")}]`);
    if (tensor.shape.join() !== shape.join()) {
      throw misfit(
        `"${name}" is [${tensor.shape.join(", ")}], config.json asks for [${shape.join(", ")}]`,
      );
    }
    return tensor.data;
  });
  const known = new Set(specs.map(({ name }) => name));
  const extra = [...tensors.keys()].find((name) => !known.has(name));
  if (extra !== undefined) throw misfit(`holds "${extra}", which this architecture does not have`);
  const flat = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    flat.set(part, at);
    at += part.length;
  }
  return flat;
}

/** The parameters of one array, by name. */
export function unflatten(config: DecoderConfig, flat: Float32Array): NamedTensor[] {
  let at = 0;
  return parameterSpecs(config).map(({ name, shape }) => {
    const size = shape.reduce((n, axis) => n * axis, 1);
    at += size;
    return { name, shape, data: flat.subarray(at - size, at) };
  });
}

/**
 * Writes a Hugging Face folder: `config.json`, `model.safetensors` and the tokenizer's files of another folder.
 * @throws {ExternalError} FILE_WRITE_FAILED
 */
export async function writeCheckpoint(
  folder: string,
  { config, weights }: Checkpoint,
  options: { dtype: StoredType; tokenizerFrom: string },
): Promise<void> {
  await writeJson(join(folder, "config.json"), {
    ...toHuggingFaceConfig(config),
    torch_dtype: { F32: "float32", F16: "float16", BF16: "bfloat16" }[options.dtype],
  });
  await writeSafetensors(
    join(folder, "model.safetensors"),
    unflatten(config, weights),
    options.dtype,
  );
  for (const file of TOKENIZER_FILES) {
    const source = join(options.tokenizerFrom, file);
    const target = join(folder, file);
    if (source !== target && existsSync(source)) await copyFile(source, target);
  }
}
