import { parseDecoderConfig } from "./config-json.ts";
import type { DecoderConfig } from "./config.ts";

/** A hub model whose shape is built in. */
export interface PublishedShape {
  /** `organisation/model` */
  name: string;
  /** Parameter count in the publisher's safetensors header, to check the shape. */
  parameters: number;
  config: DecoderConfig;
}

const LLAMA3_ROPE = {
  rope_type: "llama3",
  low_freq_factor: 1,
  high_freq_factor: 4,
  original_max_position_embeddings: 8192,
};

/** Keys that the models of a family share, in the format of `config.json`. */
const families = {
  smollm2: {
    model_type: "llama",
    vocab_size: 49_152,
    rms_norm_eps: 1e-5,
    rope_theta: 100_000,
    max_position_embeddings: 8192,
    tie_word_embeddings: true,
  },
  qwen25: {
    model_type: "qwen2",
    vocab_size: 151_936,
    rms_norm_eps: 1e-6,
    rope_theta: 1e6,
    max_position_embeddings: 32_768,
    tie_word_embeddings: true,
  },
  qwen3: {
    model_type: "qwen3",
    vocab_size: 151_936,
    rms_norm_eps: 1e-6,
    head_dim: 128,
    rope_theta: 1e6,
    max_position_embeddings: 40_960,
    tie_word_embeddings: true,
  },
  llama3: {
    model_type: "llama",
    vocab_size: 128_256,
    rms_norm_eps: 1e-5,
    rope_theta: 500_000,
    max_position_embeddings: 131_072,
  },
} as const;

/** Dimensions of one size: [layers, hidden, intermediate, heads, key/value heads]. */
type Size = readonly [number, number, number, number, number];

function shape(
  name: string,
  parameters: number,
  [layers, hidden, intermediate, heads, kvHeads]: Size,
  family: object,
): PublishedShape {
  const json = {
    hidden_act: "silu",
    num_hidden_layers: layers,
    hidden_size: hidden,
    intermediate_size: intermediate,
    num_attention_heads: heads,
    num_key_value_heads: kvHeads,
    ...family,
  };
  return { name, parameters, config: parseDecoderConfig(json, name) };
}

const { smollm2, qwen25, qwen3, llama3 } = families;
const llama32 = { ...llama3, tie_word_embeddings: true };
const math = { rope_theta: 10_000, max_position_embeddings: 4096 };
const distilled = [
  [28, 1536, 8960, 12, 2],
  { ...qwen25, rope_theta: 10_000, max_position_embeddings: 131_072, tie_word_embeddings: false },
] as const;
const times = (factor: number): object => ({ rope_scaling: { ...LLAMA3_ROPE, factor } });

/**
 * Common decoders for training, by family and size.
 *
 * Source: each repository's `config.json`, and the parameter count that the hub shows from its safetensors header (2026-11).
 */
export const publishedShapes: readonly PublishedShape[] = [
  shape("HuggingFaceTB/SmolLM2-135M", 134_515_008, [30, 576, 1536, 9, 3], smollm2),
  shape("HuggingFaceTB/SmolLM2-360M", 361_821_120, [32, 960, 2560, 15, 5], smollm2),
  shape("HuggingFaceTB/SmolLM2-1.7B", 1_711_376_384, [24, 2048, 8192, 32, 32], {
    ...smollm2,
    rope_theta: 130_000,
  }),
  shape("Qwen/Qwen2.5-0.5B", 494_032_768, [24, 896, 4864, 14, 2], qwen25),
  shape("Qwen/Qwen2.5-1.5B", 1_543_714_304, [28, 1536, 8960, 12, 2], {
    ...qwen25,
    max_position_embeddings: 131_072,
  }),
  shape("Qwen/Qwen2.5-3B", 3_085_938_688, [36, 2048, 11_008, 16, 2], qwen25),
  shape("Qwen/Qwen2.5-7B", 7_615_616_512, [28, 3584, 18_944, 28, 4], {
    ...qwen25,
    vocab_size: 152_064,
    max_position_embeddings: 131_072,
    tie_word_embeddings: false,
  }),
  shape("Qwen/Qwen2.5-Math-1.5B", 1_543_714_304, [28, 1536, 8960, 12, 2], { ...qwen25, ...math }),
  shape("Qwen/Qwen2.5-Math-7B", 7_615_616_512, [28, 3584, 18_944, 28, 4], {
    ...qwen25,
    ...math,
    vocab_size: 152_064,
    tie_word_embeddings: false,
  }),
  shape("deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B", 1_777_088_000, ...distilled),
  shape("agentica-org/DeepScaleR-1.5B-Preview", 1_777_088_000, ...distilled),
  shape("Qwen/Qwen3-0.6B", 596_049_920, [28, 1024, 3072, 16, 8], qwen3),
  shape("Qwen/Qwen3-1.7B", 1_720_574_976, [28, 2048, 6144, 16, 8], qwen3),
  shape("Qwen/Qwen3-4B", 4_022_468_096, [36, 2560, 9728, 32, 8], qwen3),
  shape("Qwen/Qwen3-8B", 8_190_735_360, [36, 4096, 12_288, 32, 8], {
    ...qwen3,
    tie_word_embeddings: false,
  }),
  shape("meta-llama/Llama-3.2-1B", 1_235_814_400, [16, 2048, 8192, 32, 8], {
    ...llama32,
    head_dim: 64,
    ...times(32),
  }),
  shape("meta-llama/Llama-3.2-3B", 3_212_749_824, [28, 3072, 8192, 24, 8], {
    ...llama32,
    head_dim: 128,
    ...times(32),
  }),
  shape("meta-llama/Llama-3.1-8B", 8_030_261_248, [32, 4096, 14_336, 32, 8], {
    ...llama3,
    tie_word_embeddings: false,
    ...times(8),
  }),
];
