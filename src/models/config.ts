import { DataError } from "../base/errors.ts";
import { z } from "../base/schema.ts";

/** Shape of a decoder of the Llama / Qwen2 family: pre-norm, rotary positions, grouped-query attention, SwiGLU. */
export interface DecoderConfig {
  /** Biases on the query, key and value projections are Qwen2's; Llama has none. */
  architecture: "llama" | "qwen2";
  vocabSize: number;
  hiddenSize: number;
  layers: number;
  heads: number;
  /** Key/value heads; a divisor of `heads`. */
  kvHeads: number;
  headDim: number;
  intermediateSize: number;
  normEpsilon: number;
  ropeTheta: number;
  /** The output matrix is the embedding matrix. */
  tiedEmbeddings: boolean;
  /** Longest sequence, in tokens. */
  maxPositions: number;
}

const modelTypes = ["llama", "qwen2"] as const;

const hfConfig = z.looseObject({
  model_type: z.enum(modelTypes),
  vocab_size: z.int().positive(),
  hidden_size: z.int().positive(),
  num_hidden_layers: z.int().positive(),
  num_attention_heads: z.int().positive(),
  num_key_value_heads: z.int().positive().optional(),
  head_dim: z.int().positive().nullish(),
  intermediate_size: z.int().positive(),
  rms_norm_eps: z.number().positive(),
  rope_theta: z.number().positive().optional(),
  // Where transformers 5 writes the base; other kinds of rope have more keys.
  rope_parameters: z
    .strictObject({
      rope_type: z.literal("default").default("default"),
      rope_theta: z.number().positive(),
    })
    .nullish(),
  rope_scaling: z.null().optional(),
  tie_word_embeddings: z.boolean().default(false),
  max_position_embeddings: z.int().positive(),
  hidden_act: z.literal("silu").default("silu"),
  attention_bias: z.literal(false).optional(),
  use_sliding_window: z.literal(false).optional(),
});

/**
 * Reads a Hugging Face `config.json`.
 * @param where the file, for messages.
 * @throws {DataError} MODEL_CONFIG_UNSUPPORTED naming the key whose value this decoder does not have.
 */
export function parseDecoderConfig(json: unknown, where: string): DecoderConfig {
  const result = hfConfig.safeParse(json);
  if (!result.success) {
    const issue = result.error.issues[0];
    throw new DataError(
      "MODEL_CONFIG_UNSUPPORTED",
      `${where}: ${issue?.path.join(".") ?? ""}: ${issue?.message ?? "is no decoder configuration"}. Supported: model_type ${modelTypes.join(", ")} with silu, without rope scaling or sliding window.`,
    );
  }
  const c = result.data;
  const config: DecoderConfig = {
    architecture: c.model_type,
    vocabSize: c.vocab_size,
    hiddenSize: c.hidden_size,
    layers: c.num_hidden_layers,
    heads: c.num_attention_heads,
    kvHeads: c.num_key_value_heads ?? c.num_attention_heads,
    headDim: c.head_dim ?? c.hidden_size / c.num_attention_heads,
    intermediateSize: c.intermediate_size,
    normEpsilon: c.rms_norm_eps,
    ropeTheta: c.rope_parameters?.rope_theta ?? c.rope_theta ?? 10_000,
    tiedEmbeddings: c.tie_word_embeddings,
    maxPositions: c.max_position_embeddings,
  };
  if (config.heads % config.kvHeads !== 0) {
    throw new DataError(
      "MODEL_CONFIG_UNSUPPORTED",
      `${where}: num_attention_heads ${config.heads} is not a multiple of num_key_value_heads ${config.kvHeads}.`,
    );
  }
  return config;
}

/** The `config.json` that transformers reads back as the same model. */
export function toHuggingFaceConfig(config: DecoderConfig): Record<string, unknown> {
  return {
    architectures: [config.architecture === "llama" ? "LlamaForCausalLM" : "Qwen2ForCausalLM"],
    model_type: config.architecture,
    vocab_size: config.vocabSize,
    hidden_size: config.hiddenSize,
    num_hidden_layers: config.layers,
    num_attention_heads: config.heads,
    num_key_value_heads: config.kvHeads,
    head_dim: config.headDim,
    intermediate_size: config.intermediateSize,
    rms_norm_eps: config.normEpsilon,
    rope_theta: config.ropeTheta,
    tie_word_embeddings: config.tiedEmbeddings,
    max_position_embeddings: config.maxPositions,
    hidden_act: "silu",
  };
}
