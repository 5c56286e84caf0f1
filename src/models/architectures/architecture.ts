import type { Part } from "../../base/registry.ts";
import { z } from "../../base/schema.ts";
import type { DecoderConfig, DecoderFeatures } from "../config.ts";
import { readRope, ropeKeys, writeRope } from "../rope.ts";

/** One family of decoders: converts between `config.json` and features. */
export interface Architecture<S extends z.ZodObject = z.ZodObject> extends Part {
  /** `model_type` in `config.json`. */
  readonly name: string;
  /** Its class in transformers: the only entry of `architectures`. */
  readonly className: string;
  /** How GGUF files store the family; absent: not under a name of its own. */
  readonly gguf?: GgufForm;
  /** Keys that affect the computation, including those of `commonKeys`. */
  readonly schema: S;
  toConfig(keys: z.output<S>): DecoderConfig;
  /** Keys besides those of `commonKeys`. */
  toKeys(config: DecoderConfig): Record<string, unknown>;
}

export interface GgufForm {
  /** `general.architecture` */
  readonly name: string;
  /** Whether the rows of queries and keys that turn together are neighbours (`unpairRows`). */
  readonly pairedRows: boolean;
}

/** Makes an architecture; its schema types the argument of `toConfig`. */
export function defineArchitecture<S extends z.ZodObject>(
  architecture: Architecture<S>,
): Architecture {
  return architecture;
}

/** Sizes are 32-bit numbers in a graph. */
const size = z
  .int()
  .positive()
  .max(2 ** 31 - 1);

/** Ten times those of the deepest published decoder: a damaged number must not become a billion names of tensors. */
const layers = z.int().positive().max(2000);

/** Keys of every family, with transformers' defaults for optional ones. */
export const commonKeys = {
  vocab_size: size,
  hidden_size: size,
  num_hidden_layers: layers,
  num_attention_heads: size,
  intermediate_size: size,
  rms_norm_eps: z.number().positive(),
  max_position_embeddings: size,
  tie_word_embeddings: z.boolean().default(false),
  hidden_act: z.literal("silu").default("silu"),
  attention_dropout: z.literal(0).nullish(),
  ...ropeKeys,
};

/** Key/value heads; null means as many as heads. Required, because each family's default fits only one model size. */
export const keyValueHeads = size.nullable();

/** Size of a head; missing or null means hidden_size / num_attention_heads. */
export const headSize = size.nullish();

type CommonKeys = z.output<z.ZodObject<typeof commonKeys>> & {
  num_key_value_heads?: number | null | undefined;
  head_dim?: number | null | undefined;
};

/** The part of a configuration that all families share. */
export function commonConfig(
  architecture: string,
  keys: CommonKeys,
): Omit<DecoderConfig, Exclude<keyof DecoderFeatures, "ropeScaling">> {
  return {
    architecture,
    vocabSize: keys.vocab_size,
    hiddenSize: keys.hidden_size,
    layers: keys.num_hidden_layers,
    heads: keys.num_attention_heads,
    kvHeads: keys.num_key_value_heads ?? keys.num_attention_heads,
    headDim: keys.head_dim ?? keys.hidden_size / keys.num_attention_heads,
    intermediateSize: keys.intermediate_size,
    normEpsilon: keys.rms_norm_eps,
    tiedEmbeddings: keys.tie_word_embeddings,
    maxPositions: keys.max_position_embeddings,
    ...readRope(keys, keys.max_position_embeddings),
  };
}

export function commonKeysOf(config: DecoderConfig): Record<string, unknown> {
  return {
    vocab_size: config.vocabSize,
    hidden_size: config.hiddenSize,
    num_hidden_layers: config.layers,
    num_attention_heads: config.heads,
    num_key_value_heads: config.kvHeads,
    head_dim: config.headDim,
    intermediate_size: config.intermediateSize,
    rms_norm_eps: config.normEpsilon,
    ...writeRope(config),
    tie_word_embeddings: config.tiedEmbeddings,
    max_position_embeddings: config.maxPositions,
    hidden_act: "silu",
  };
}
