/** The configuration of a GGUF file's model. */
import { DataError } from "../../base/errors.ts";
import { quote } from "../../base/schema.ts";
import { suggest } from "../../base/nearest.ts";
import type { Architecture } from "../architectures/architecture.ts";
import { architectures } from "../architectures/index.ts";
import { parseDecoderConfig } from "../config-json.ts";
import type { DecoderConfig } from "../config.ts";
import { ropeFrequencies } from "../rope.ts";
import type { GgufFile, GgufValue } from "./gguf-file.ts";

/** Name of the tensor with the divisors of rotary frequencies: the only record of a llama3 scaling. */
export const ROPE_DIVISORS = "rope_freqs.weight";

/** The family of a file's model. @throws {DataError} MODEL_CONFIG_UNSUPPORTED */
export function ggufArchitecture({ path, metadata }: GgufFile): Architecture {
  const fail = failure(path);
  const type = metadata.get("general.type") ?? "model";
  if (type !== "model") throw fail(`general.type is ${quote(type)}; only "model" is supported.`);
  const splits = metadata.get("split.count") ?? 1;
  if (Number(splits) > 1)
    throw fail(
      `is one of ${String(splits)} parts (split.count). Join them with llama-gguf-split --merge, and give the whole file.`,
    );
  const name = metadata.get("general.architecture");
  const found = architectures.parts.find(({ gguf }) => gguf !== undefined && gguf.name === name);
  if (found !== undefined) return found;
  const known = architectures.parts.flatMap(({ gguf }) => (gguf === undefined ? [] : [gguf.name]));
  throw fail(
    `general.architecture is ${quote(name)}; this architecture is not supported. ${suggest(typeof name === "string" ? name : "", known)}`,
  );
}

/**
 * Reads the configuration from the metadata, and the scaling of positions from its tensor.
 * @throws {DataError} MODEL_CONFIG_UNSUPPORTED with the key, its value and the allowed values; as `parseDecoderConfig`.
 */
export async function ggufConfig(file: GgufFile): Promise<DecoderConfig> {
  const { name: model_type, gguf } = ggufArchitecture(file);
  const keys = readKeys(file, gguf?.name ?? "");
  const json = { model_type, ...keys };
  const where = `${file.path}: its metadata, as config.json`;
  const plain = parseDecoderConfig(json, where);
  const rope_scaling = await llama3Scaling(file, plain);
  return rope_scaling === null ? plain : parseDecoderConfig({ ...json, rope_scaling }, where);
}

/** Keys of an architecture's metadata that change nothing here, or say what another key or the tensors say. */
const IGNORED = new Set([
  ...["vocab_size", "rope.scaling.original_context_length", "rope.scaling.finetuned"],
  ...["attention.layer_norm_epsilon", "tensor_data_layout"],
]);

function readKeys({ path, metadata, tensors }: GgufFile, name: string): Record<string, unknown> {
  const fail = failure(path);
  const unread = new Map(
    [...metadata].flatMap(([key, value]) =>
      key.startsWith(`${name}.`) ? [[key.slice(name.length + 1), value] as const] : [],
    ),
  );
  const optional = (key: string): number | undefined => {
    const value = sameInAllLayers(unread.get(key));
    unread.delete(key);
    if (value === undefined || typeof value === "number") return value;
    throw fail(`${name}.${key} is ${quote(value)}; expected one number, equal in all layers.`);
  };
  const number = (key: string): number => {
    const value = optional(key);
    if (value === undefined) throw fail(`has no ${name}.${key} in its metadata.`);
    return value;
  };
  const heads = number("attention.head_count");
  const width = number("embedding_length");
  const headDim = optional("attention.key_length") ?? width / heads;
  const keys = {
    vocab_size: tensors.get("token_embd.weight")?.shape[0],
    hidden_size: width,
    num_hidden_layers: number("block_count"),
    num_attention_heads: heads,
    num_key_value_heads: optional("attention.head_count_kv") ?? heads,
    head_dim: headDim,
    intermediate_size: number("feed_forward_length"),
    rms_norm_eps: decimal(number("attention.layer_norm_rms_epsilon")),
    max_position_embeddings: number("context_length"),
    rope_theta: decimal(optional("rope.freq_base") ?? 10_000),
    rope_scaling: linearScaling(unread, fail, name),
    tie_word_embeddings: !tensors.has("output.weight"),
  };
  for (const key of ["rope.dimension_count", "attention.value_length"]) {
    const found = optional(key) ?? headDim;
    if (found !== headDim)
      throw fail(`${name}.${key} is ${found}; supported: ${headDim}, as keys.`);
  }
  for (const [key, value] of unread) {
    if (IGNORED.has(key) || value === 0 || value === false) continue;
    throw fail(
      `${name}.${key} is ${quote(value)}, which may change the model's output and is not supported. Expected: no such key, 0 or false.`,
    );
  }
  return keys;
}

function linearScaling(
  unread: Map<string, GgufValue>,
  fail: (what: string) => DataError,
  name: string,
): Record<string, unknown> | null {
  const type = unread.get("rope.scaling.type") ?? "none";
  const factor = unread.get("rope.scaling.factor");
  unread.delete("rope.scaling.type");
  unread.delete("rope.scaling.factor");
  if (type === "none") return null;
  if (type === "linear") return { rope_type: "linear", factor };
  throw fail(`${name}.rope.scaling.type is ${quote(type)}; supported: none, linear.`);
}

/** Llama 3.1 and later were published with these; files do not repeat them. */
const LLAMA3 = { low_freq_factor: 1, high_freq_factor: 4, original_max_position_embeddings: 8192 };

/** The llama3 scaling whose divisors the file has; null without divisors. */
async function llama3Scaling(
  file: GgufFile,
  plain: DecoderConfig,
): Promise<Record<string, unknown> | null> {
  if (!file.tensors.has(ROPE_DIVISORS)) return null;
  const fail = failure(file.path);
  const frequencies = ropeFrequencies(plain);
  const { shape } = file.tensors.get(ROPE_DIVISORS)!;
  if (shape.join() !== String(frequencies.length))
    throw fail(`"${ROPE_DIVISORS}" is [${shape.join(", ")}]; expected [${frequencies.length}].`);
  const divisors = new Float32Array(frequencies.length);
  await file.read(ROPE_DIVISORS, divisors);
  const factor = divisors.reduce((most, each) => Math.max(most, each), 1);
  const { low_freq_factor, high_freq_factor, original_max_position_embeddings } = LLAMA3;
  const expected = ropeFrequencies({
    ...plain,
    ropeScaling: {
      type: "llama3",
      factor,
      lowFrequencyFactor: low_freq_factor,
      highFrequencyFactor: high_freq_factor,
      originalPositions: original_max_position_embeddings,
    },
  });
  const misfit = expected.findIndex(
    (each, i) => Math.abs((each * divisors[i]!) / frequencies[i]! - 1) > 1e-4,
  );
  if (misfit < 0) return { rope_type: "llama3", factor, ...LLAMA3 };
  throw fail(
    `"${ROPE_DIVISORS}" divides frequency ${misfit} by ${divisors[misfit]!}; supported are the divisors of Llama 3.1 and later (low_freq_factor 1, high_freq_factor 4, original context 8192), here ${frequencies[misfit]! / expected[misfit]!}.`,
  );
}

/** The value of a key that may be given for each layer. */
function sameInAllLayers(value: GgufValue | undefined): GgufValue | undefined {
  if (!Array.isArray(value)) return value;
  const all = value as readonly GgufValue[];
  return all.every((each) => each === all[0]) ? all[0] : value;
}

/** The shortest decimal that rounds to a float32: 1e-5, not 0.000009999999747378752. */
function decimal(value: number): number {
  for (let digits = 1; digits <= 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return short;
  }
  return value;
}

function failure(path: string): (what: string) => DataError {
  return (what) => new DataError("MODEL_CONFIG_UNSUPPORTED", `${path}: ${what}`);
}
