import { join } from "node:path";
import { writeFileAtomic, writeJson } from "../../base/files.ts";
import type { DecoderConfig } from "../config.ts";
import { toHuggingFaceConfig } from "../config-json.ts";
import { streamSafetensors, type TensorSource } from "../safetensors.ts";
import { storedTypes, type StoredType } from "../stored-numbers.ts";
import { ggufConfig, ggufArchitecture, ROPE_DIVISORS } from "./gguf-config.ts";
import { openGguf, type GgufFile, type GgufTensor } from "./gguf-file.ts";
import { ggufTokenizer, type GgufVocabulary } from "./gguf-tokenizer.ts";
import { DataError } from "../../base/errors.ts";
import {
  EMBEDDING,
  FINAL_NORM,
  HEAD,
  layerNames,
  parameterSpecs,
  type LayerTensor,
  type ParameterSpec,
} from "../parameters.ts";

interface GgufModel {
  config: DecoderConfig;
  /** Storage types of the file's matrices with their number, such as `Q4_1` 210. */
  types: ReadonlyMap<string, number>;
  /** Of the matrices of its conversion. */
  dtype: StoredType;
}

interface ConvertOptions {
  /** Of the matrices; vectors stay float32. Default: that of the file's matrices, and F32 for quantised ones, so nothing is rounded. */
  dtype?: StoredType | undefined;
  /** Receives how many tensors are written. */
  onProgress?: (written: number, total: number) => void;
  signal?: AbortSignal | undefined;
}

/**
 * Writes the model of a GGUF file as a Hugging Face folder: `config.json`, `model.safetensors`, the tokenizer's files,
 * `generation_config.json` and the chat template. Only one tensor is in memory at a time.
 *
 * @throws {DataError} GGUF_BAD, MODEL_CONFIG_UNSUPPORTED, CHECKPOINT_MISFIT, TOKENIZER_BAD before anything is written;
 *   WEIGHT_TOO_LARGE for a number beyond float16's range.
 * @throws {ExternalError} FILE_WRITE_FAILED
 */
export async function convertGguf(
  path: string,
  folder: string,
  options: ConvertOptions = {},
): Promise<GgufModel> {
  return withParameters(path, options, async ({ file, parameters, ...model }) => {
    await writeDescription(folder, file, model);
    let done = 0;
    const sources = parameters.map((each) => {
      const source = sourceOf(file, each, model.dtype);
      const load = (): Promise<Float32Array> => {
        options.signal?.throwIfAborted();
        options.onProgress?.(done++, parameters.length);
        return source.load();
      };
      return { ...source, load };
    });
    // Last, so that a folder with weights is complete.
    await streamSafetensors(join(folder, "model.safetensors"), sources);
    options.onProgress?.(done, parameters.length);
    return model;
  });
}

/** Reads what `convertGguf` would write, apart from weights and tokenizer. @throws {DataError} GGUF_BAD, MODEL_CONFIG_UNSUPPORTED, CHECKPOINT_MISFIT */
export async function describeGguf(path: string): Promise<GgufModel> {
  return withParameters(path, {}, ({ config, types, dtype }) =>
    Promise.resolve({ config, types, dtype }),
  );
}

async function withParameters<T>(
  path: string,
  { dtype }: ConvertOptions,
  work: (found: GgufModel & { file: GgufFile; parameters: GgufParameter[] }) => Promise<T>,
): Promise<T> {
  const file = await openGguf(path);
  try {
    const config = await ggufConfig(file);
    const parameters = ggufParameters(file, config);
    const types = new Map<string, number>();
    for (const { spec, tensor } of parameters) {
      const { name } = tensor.type;
      if (spec.shape.length === 2) types.set(name, (types.get(name) ?? 0) + 1);
    }
    return await work({
      file,
      config,
      parameters,
      types,
      dtype: dtype ?? ownType([...types.keys()]),
    });
  } finally {
    await file.close();
  }
}

/** Everything but the weights. */
async function writeDescription(
  folder: string,
  file: GgufFile,
  { config, dtype }: GgufModel,
): Promise<void> {
  const { json: tokenizer, vocabulary } = ggufTokenizer(file, file.path);
  const ids = tokenIds(vocabulary);
  const files = {
    "config.json": {
      ...toHuggingFaceConfig(config),
      ...ids,
      torch_dtype: { F32: "float32", F16: "float16", BF16: "bfloat16" }[dtype],
    },
    "generation_config.json": ids,
    "tokenizer.json": tokenizer,
    "tokenizer_config.json": tokenizerConfig(vocabulary, config.maxPositions),
  };
  for (const [name, json] of Object.entries(files)) await writeJson(join(folder, name), json);
  for (const [name, template] of chatTemplates(file))
    await writeFileAtomic(join(folder, name), template);
}

/** The common dtype of matrices that are not quantised, else F32. */
function ownType(types: readonly string[]): StoredType {
  const [only, ...others] = types;
  const found = storedTypes.find((type) => type === only);
  return others.length === 0 && found !== undefined ? found : "F32";
}

function sourceOf(
  file: GgufFile,
  { spec, tensor, pairedHeads }: GgufParameter,
  dtype: StoredType,
): TensorSource {
  const { name, shape } = spec;
  return {
    name,
    shape,
    dtype: shape.length === 2 ? dtype : "F32",
    load: async () => {
      const stored = new Float32Array(shape.reduce((n, axis) => n * axis, 1));
      await file.read(tensor.name, stored);
      return pairedHeads === 0 ? stored : unpairRows(stored, shape[0]!, pairedHeads);
    },
  };
}

/** Ids of special tokens, for `config.json` and `generation_config.json`. */
function tokenIds({ beginId, endId, otherEndIds, padId }: GgufVocabulary): Record<string, unknown> {
  const ends = [...new Set([...(endId === null ? [] : [endId]), ...otherEndIds])];
  return {
    bos_token_id: beginId ?? undefined,
    eos_token_id: ends.length === 0 ? undefined : ends.length === 1 ? ends[0] : ends,
    pad_token_id: padId ?? undefined,
  };
}

function tokenizerConfig(vocabulary: GgufVocabulary, positions: number): Record<string, unknown> {
  const { tokens, beginId, endId, unknownId, padId, addsBegin } = vocabulary;
  const special = { bos_token: beginId, eos_token: endId, unk_token: unknownId, pad_token: padId };
  const named = Object.entries(special).flatMap(([key, id]) =>
    id === null ? [] : [[key, tokens[id]] as const],
  );
  return {
    tokenizer_class: "PreTrainedTokenizerFast",
    ...Object.fromEntries(named),
    add_bos_token: addsBegin ?? undefined,
    clean_up_tokenization_spaces: false,
    model_max_length: positions,
  };
}

function* chatTemplates({ metadata }: GgufFile): Generator<[string, string]> {
  for (const [key, value] of metadata) {
    const [, name] = /^tokenizer\.chat_template(?:\.([\w-]+))?$/.exec(key) ?? [];
    if (typeof value !== "string") continue;
    if (key === "tokenizer.chat_template") yield ["chat_template.jinja", value];
    else if (name !== undefined) yield [`additional_chat_templates/${name}.jinja`, value];
  }
}

/** Where a decoder's parameters lie in a GGUF file. */

/** Names within a layer, `blk.N.` before them. */
const LAYER: Readonly<Record<LayerTensor, string>> = {
  inputNorm: "attn_norm.weight",
  q: "attn_q.weight",
  k: "attn_k.weight",
  v: "attn_v.weight",
  qBias: "attn_q.bias",
  kBias: "attn_k.bias",
  vBias: "attn_v.bias",
  qNorm: "attn_q_norm.weight",
  kNorm: "attn_k_norm.weight",
  o: "attn_output.weight",
  postNorm: "ffn_norm.weight",
  gate: "ffn_gate.weight",
  up: "ffn_up.weight",
  down: "ffn_down.weight",
};

interface GgufParameter {
  readonly spec: ParameterSpec;
  readonly tensor: GgufTensor;
  /** Heads whose rows are stored in pairs (`unpairRows`); 0: rows are in Hugging Face's order. */
  readonly pairedHeads: number;
}

/**
 * Finds every parameter, in the order of `parameterSpecs`.
 * @throws {DataError} CHECKPOINT_MISFIT with the tensor that is missing, has another shape, or is unexpected.
 */
function ggufParameters(file: GgufFile, config: DecoderConfig): GgufParameter[] {
  const { path, tensors } = file;
  const misfit = (what: string): DataError =>
    new DataError(
      "CHECKPOINT_MISFIT",
      `${path}: ${what}. The tensors must match the metadata; download the file again, or choose another.`,
    );
  const names = namesOf(config);
  const paired = pairedNames(file, config);
  const unused = new Set(tensors.keys());
  // Buffers that the configuration determines.
  unused.delete(ROPE_DIVISORS);
  const found = parameterSpecs(config).map((spec) => {
    const name = names.get(spec.name)!;
    const tensor = tensors.get(name);
    const wanted = `[${spec.shape.join(", ")}]`;
    if (tensor === undefined) throw misfit(`has no tensor "${name}" ${wanted}`);
    if (tensor.shape.join() !== spec.shape.join())
      throw misfit(`"${name}" is [${tensor.shape.join(", ")}], but the metadata require ${wanted}`);
    unused.delete(name);
    return { spec, tensor, pairedHeads: paired.get(spec.name) ?? 0 };
  });
  const [extra] = unused;
  if (extra !== undefined)
    throw misfit(`contains "${extra}", which models of type ${config.architecture} do not have`);
  return found;
}

function namesOf({ layers }: DecoderConfig): Map<string, string> {
  const names = new Map([
    [EMBEDDING, "token_embd.weight"],
    [FINAL_NORM, "output_norm.weight"],
    [HEAD, "output.weight"],
  ]);
  for (let layer = 0; layer < layers; layer++) {
    for (const [key, name] of Object.entries(layerNames(layer)))
      names.set(name, `blk.${layer}.${LAYER[key as LayerTensor]}`);
  }
  return names;
}

/** Queries and keys of a family whose rows are paired, with their heads. */
function pairedNames(file: GgufFile, config: DecoderConfig): Map<string, number> {
  const names = new Map<string, number>();
  if (ggufArchitecture(file).gguf?.pairedRows !== true) return names;
  for (let layer = 0; layer < config.layers; layer++) {
    const { q, k } = layerNames(layer);
    names.set(q, config.heads).set(k, config.kvHeads);
  }
  return names;
}

/**
 * Rows in Hugging Face's order. Rotary positions turn pairs of rows of each head: rows i and i + d/2 in Hugging Face's order, neighbours
 * (2i and 2i + 1) in Meta's, which llama.cpp uses for Llama.
 *
 * @param stored [heads · d, columns], neighbours.
 * Source: the inverse of `LlamaModel.permute` in llama.cpp's convert_hf_to_gguf.py.
 */
export function unpairRows(stored: Float32Array, rows: number, heads: number): Float32Array {
  const columns = stored.length / rows;
  const size = rows / heads;
  const unpaired = new Float32Array(stored.length);
  for (let row = 0; row < rows; row++) {
    const within = row % size;
    const target = row - within + (within % 2) * (size / 2) + Math.floor(within / 2);
    unpaired.set(stored.subarray(row * columns, (row + 1) * columns), target * columns);
  }
  return unpaired;
}
