import { copyFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { DataError } from "../base/errors.ts";
import { readJson, writeJson } from "../base/files.ts";
import type { DecoderConfig } from "./config.ts";
import { parseDecoderConfig, toHuggingFaceConfig } from "./config-json.ts";
import {
  EMBEDDING,
  HEAD,
  parameterCount,
  parameterSpecs,
  tensorsOf,
  totalSize,
  VALUE_HEAD,
} from "./parameters.ts";
import type { ParameterSpec } from "./parameters.ts";
import { writeSafetensors, type NamedTensor } from "./safetensors.ts";
import { storedTypes, torchTypes, type HalfNumbers, type StoredType } from "./stored-numbers.ts";
import { hasWeights, openWeightFiles, type WeightFiles } from "./weight-files.ts";

/** A model from a Hugging Face folder. */
export interface Checkpoint {
  config: DecoderConfig;
  /** All parameters in the order of `parameterSpecs`, float32. */
  weights: Float32Array;
}

/** Files that are copied with a checkpoint: the tokenizer's, and sampling settings. */
const COMPANIONS = [
  ...["tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json"],
  ...["vocab.json", "merges.txt", "tokenizer.model", "chat_template.jinja"],
  "generation_config.json",
];

/** Keys of `config.json` that graphs do not use but other programs do; they are copied too. */
const TOKEN_KEYS = ["bos_token_id", "eos_token_id", "pad_token_id"];

/** Reads `config.json` and the weights. @throws {DataError} as `readDecoderConfig` and `readWeights`. */
export async function readCheckpoint(folder: string): Promise<Checkpoint> {
  const config = await readDecoderConfig(folder);
  const weights = new Float32Array(parameterCount(config));
  await readWeights(folder, config, weights);
  return { config, weights };
}

/**
 * Reads a folder's `config.json`, and holds it against the names and shapes of its weights where these are there.
 * @throws {DataError} FILE_MISSING, FILE_NOT_JSON, MODEL_CONFIG_UNSUPPORTED; CHECKPOINT_MISFIT, SAFETENSORS_BAD
 */
export async function readDecoderConfig(folder: string): Promise<DecoderConfig> {
  const path = join(folder, "config.json");
  const config = parseDecoderConfig(await readJson(path), path);
  if (hasWeights(folder)) await withWeights(folder, config, () => Promise.resolve());
  return config;
}

/**
 * Reads the weights, from one file or from shards, tensor by tensor into one array, with buffers of 256 KiB.
 *
 * @param config says whether a value head is wanted: one that the folder lacks is filled with 0.
 * @param into array of `parameterCount` elements, filled in the order of `parameterSpecs`. May be shared memory.
 * @throws {DataError} CHECKPOINT_MISFIT with the tensor that is missing, has another shape, or is unexpected; as
 *   `openWeightFiles`.
 */
export async function readWeights(
  folder: string,
  config: DecoderConfig,
  into: Float32Array,
): Promise<void> {
  await withWeights(folder, config, async (files, tiedHead) => {
    const tensors = unflatten(config, into);
    for (const { name, data } of tensors) {
      // A policy's folder has none: a new critic says 0.
      if (name === VALUE_HEAD && !files.tensors.has(name)) data.fill(0);
      else await files.read(name, data);
    }
    if (!tiedHead) return;
    const embedding = tensors.find(({ name }) => name === EMBEDDING)!;
    const head = new Float32Array(embedding.data.length);
    await files.read(HEAD, head);
    refuseUntied(files, head, embedding.data);
  });
}

/**
 * Reads the weights one by one: matrices in 16 bits, vectors in float32, with buffers of 256 KiB.
 *
 * @param take receives each parameter and its reader, in the order of `parameterSpecs`.
 * @throws {DataError} WEIGHT_TOO_LARGE for a number beyond float16's range; as `readWeights`.
 */
export async function readHalfWeights(
  folder: string,
  config: DecoderConfig,
  type: HalfNumbers["type"],
  take: (spec: ParameterSpec, read: WeightReader) => Promise<void>,
): Promise<void> {
  await withWeights(folder, config, async (files, tiedHead) => {
    for (const spec of parameterSpecs(config))
      await take(spec, (into) =>
        into instanceof Float32Array
          ? files.read(spec.name, into)
          : files.readHalf(spec.name, { type, bits: into }),
      );
    if (!tiedHead) return;
    const halves = async (name: string): Promise<Uint16Array> => {
      const bits = new Uint16Array(config.vocabSize * config.hiddenSize);
      await files.readHalf(name, { type, bits });
      return bits;
    };
    refuseUntied(files, await halves(HEAD), await halves(EMBEDDING));
  });
}

/** Reads one parameter into an array of its size, as float32 or in 16 bits. */
export type WeightReader = (into: Float32Array | Uint16Array) => Promise<void>;

/** The common dtype of a folder's matrices; null when mixed. @throws {DataError} as `openWeightFiles`. */
export async function storedTypeOf(folder: string): Promise<StoredType | null> {
  const files = await openWeightFiles(folder);
  try {
    const matrices = [...files.tensors.values()].filter(({ shape }) => shape.length === 2);
    const types = new Set(matrices.map(({ dtype }) => dtype));
    const found = storedTypes.find((type) => types.has(type)) ?? null;
    return types.size === 1 ? found : null;
  } finally {
    await files.close();
  }
}

async function withWeights(
  folder: string,
  config: DecoderConfig,
  work: (files: WeightFiles, tiedHead: boolean) => Promise<void>,
): Promise<void> {
  const files = await openWeightFiles(folder);
  try {
    const stored = new Map(files.tensors);
    // Buffers in old Llama files, which config.json determines.
    for (const name of files.tensors.keys()) if (BUFFER.test(name)) stored.delete(name);
    // Some programs store the output matrix beside the embedding that it is tied to.
    const hadHead =
      (config.tiedEmbeddings || config.valueHead === "instead") && stored.delete(HEAD);
    const tiedHead = hadHead && config.tiedEmbeddings;
    // One that is wanted and missing begins at 0.
    if (config.valueHead !== undefined) stored.delete(VALUE_HEAD);
    const specs = parameterSpecs(config).filter(({ name }) => name !== VALUE_HEAD);
    checkTensors(specs, stored, files.where, "config.json");
    if (tiedHead) refuseOtherShape(files, config);
    await work(files, tiedHead);
  } finally {
    await files.close();
  }
}

const BUFFER = /\.rotary_emb\.inv_freq$/;

/** Concatenates all parameters. @throws {DataError} CHECKPOINT_MISFIT */
export function flatten(
  config: DecoderConfig,
  tensors: ReadonlyMap<string, NamedTensor>,
  where: string,
): Float32Array {
  return flattenAs(parameterSpecs(config), tensors, where);
}

/**
 * Concatenates the tensors of a list, in its order.
 * @param asker the file with the list, for messages.
 * @throws {DataError} CHECKPOINT_MISFIT with the tensor that is missing, has another shape, or is unexpected.
 */
export function flattenAs(
  specs: readonly ParameterSpec[],
  tensors: ReadonlyMap<string, NamedTensor>,
  where: string,
  asker = "config.json",
): Float32Array {
  checkTensors(specs, tensors, where, asker);
  const flat = new Float32Array(totalSize(specs));
  for (const { name, data } of tensorsOf(specs, flat)) data.set(tensors.get(name)!.data);
  return flat;
}

/** Checks that the tensors are exactly those of a list. @throws {DataError} CHECKPOINT_MISFIT */
function checkTensors(
  specs: readonly ParameterSpec[],
  tensors: ReadonlyMap<string, { readonly shape: readonly number[] }>,
  where: string,
  asker: string,
): void {
  const misfit = (what: string): DataError => misfitOf(where, what, asker);
  for (const { name, shape } of specs) {
    const tensor = tensors.get(name);
    if (tensor === undefined) throw misfit(`has no tensor "${name}" [${shape.join(", ")}]`);
    if (tensor.shape.join() !== shape.join())
      throw misfit(
        `"${name}" is [${tensor.shape.join(", ")}], but ${asker} requires [${shape.join(", ")}]`,
      );
  }
  const known = new Set(specs.map(({ name }) => name));
  const extra = [...tensors.keys()].find((name) => !known.has(name));
  if (extra !== undefined) throw misfit(`contains "${extra}", which ${asker} does not define`);
}

/** A tied output matrix must equal the embedding: transformers does not tie different ones, even if config.json says so. */
function refuseUntied<T extends Float32Array | Uint16Array>(
  files: WeightFiles,
  head: T,
  embedding: T,
): void {
  if (!head.every((each, i) => Object.is(each, embedding[i]))) throw untied(files);
}

function refuseOtherShape(files: WeightFiles, { vocabSize, hiddenSize }: DecoderConfig): void {
  if (files.tensors.get(HEAD)!.shape.join() !== [vocabSize, hiddenSize].join()) throw untied(files);
}

function untied(files: WeightFiles): DataError {
  const { shape } = files.tensors.get(HEAD)!;
  return new DataError(
    "CHECKPOINT_MISFIT",
    `${files.where}: "${HEAD}" [${shape.join(", ")}] differs from "${EMBEDDING}", although config.json sets tie_word_embeddings. Set it to false, or remove "${HEAD}".`,
  );
}

function misfitOf(where: string, what: string, asker: string): DataError {
  return new DataError(
    "CHECKPOINT_MISFIT",
    `${where}: ${what}. The tensors must match the ${asker} beside it; save or download both together.`,
  );
}

/** Splits an array into the parameters, by name. */
export function unflatten(config: DecoderConfig, flat: Float32Array): NamedTensor[] {
  return tensorsOf(parameterSpecs(config), flat);
}

/**
 * Writes a Hugging Face folder: `config.json`, `model.safetensors`, and from another folder the companion files (the
 * tokenizer's files, `generation_config.json`) and the special tokens in its `config.json`.
 * @throws {ExternalError} FILE_WRITE_FAILED
 */
export async function writeCheckpoint(
  folder: string,
  { config, weights }: Checkpoint,
  options: { dtype: StoredType; tokenizerFrom: string },
): Promise<void> {
  await writeJson(join(folder, "config.json"), {
    ...toHuggingFaceConfig(config),
    ...(await tokenKeys(options.tokenizerFrom)),
    torch_dtype: torchTypes[options.dtype],
  });
  await writeSafetensors(
    join(folder, "model.safetensors"),
    unflatten(config, weights),
    options.dtype,
  );
  await copyCompanions(options.tokenizerFrom, folder, { replace: true });
}

/** Copies the files that belong to a model beside its weights: the tokenizer's, and sampling settings. */
export async function copyCompanions(
  from: string,
  folder: string,
  { replace = false } = {},
): Promise<void> {
  for (const file of COMPANIONS) {
    const source = join(from, file);
    const target = join(folder, file);
    if (source === target || !existsSync(source) || (existsSync(target) && !replace)) continue;
    await copyFile(source, target);
  }
}

async function tokenKeys(folder: string): Promise<Record<string, unknown>> {
  const path = join(folder, "config.json");
  if (!existsSync(path)) return {};
  const source = (await readJson(path)) as Record<string, unknown>;
  return Object.fromEntries(
    TOKEN_KEYS.filter((key) => key in source).map((key) => [key, source[key]]),
  );
}
