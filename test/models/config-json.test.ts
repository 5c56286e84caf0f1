import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { packageRoot } from "../../src/base/package-root.ts";
import { architectures } from "../../src/models/architectures/index.ts";
import { plainFeatures, windowOf, type DecoderConfig } from "../../src/models/config.ts";
import { parseDecoderConfig, toHuggingFaceConfig } from "../../src/models/config-json.ts";
import { errorWith } from "../helpers/error-with.ts";
import { tinyConfig } from "../helpers/tiny-model.ts";
import { naming } from "../helpers/naming.ts";

const json = toHuggingFaceConfig(tinyConfig);
const plain: DecoderConfig = { ...tinyConfig, ...plainFeatures, architecture: "llama" };

/** tinyConfig's file with keys changed; undefined takes one out. */
function parsed(change: Record<string, unknown>): DecoderConfig {
  return parseDecoderConfig(JSON.parse(JSON.stringify({ ...json, ...change })), "config.json");
}

/** As a llama, mistral or qwen3 file. */
function as(model_type: string, change: Record<string, unknown> = {}): DecoderConfig {
  const architectures = undefined;
  return parsed({ model_type, architectures, max_window_layers: undefined, ...change });
}

function refusal(read: () => unknown): string {
  let message = "no failure";
  expect(() => {
    try {
      read();
    } catch (error) {
      message = (error as Error).message;
      throw error;
    }
  }).toThrow(errorWith("MODEL_CONFIG_UNSUPPORTED"));
  return message;
}

describe("config.json", () => {
  it.each<[string, DecoderConfig]>([
    ["llama", { ...plain, tiedEmbeddings: false }],
    ["llama", { ...plain, ropeScaling: { type: "linear", factor: 4 } }],
    [
      "llama",
      {
        ...plain,
        ropeScaling: {
          type: "llama3",
          factor: 8,
          lowFrequencyFactor: 1,
          highFrequencyFactor: 4,
          originalPositions: 128,
        },
      },
    ],
    ["mistral", { ...plain, slidingWindow: { size: 16, fromLayer: 0 } }],
    ["mistral", plain],
    ["qwen2", tinyConfig],
    ["qwen2", { ...tinyConfig, slidingWindow: { size: 16, fromLayer: 1 } }],
    ["qwen3", { ...plain, qkNorm: true, headDim: 16 }],
    ["qwen3", { ...plain, qkNorm: true, slidingWindow: { size: 4, fromLayer: 0 } }],
  ])("of %s reads back as it was written", (architecture, features) => {
    const config = { ...features, architecture };
    const written = JSON.parse(JSON.stringify(toHuggingFaceConfig(config))) as unknown;
    expect(parseDecoderConfig(written, "config.json")).toEqual(config);
  });

  it("is not written where the architecture's files cannot say it", () => {
    const window = { slidingWindow: { size: 4, fromLayer: 1 } };
    expect([
      refusal(() => toHuggingFaceConfig({ ...plain, qkNorm: true })),
      refusal(() => toHuggingFaceConfig({ ...plain, architecture: "mistral", ...window })),
    ]).toMatchInlineSnapshot(`
      [
        "qkNorm of the llama model is true, but a config.json of this architecture would say false. Choose an architecture that supports it: llama, mistral, qwen2, qwen3.",
        "slidingWindow of the mistral model is {"size":4,"fromLayer":1}, but a config.json of this architecture would say {"size":4,"fromLayer":0}. Choose an architecture that supports it: llama, mistral, qwen2, qwen3.",
      ]
    `);
  });

  it("of the base policy reads as it always did", async () => {
    const path = join(packageRoot, "datasets", "base-policy", "config.json");
    expect(parseDecoderConfig(JSON.parse(await readFile(path, "utf8")), path)).toEqual({
      ...plainFeatures,
      architecture: "llama",
      vocabSize: 2160,
      hiddenSize: 128,
      layers: 4,
      heads: 4,
      kvHeads: 2,
      headDim: 32,
      intermediateSize: 344,
      normEpsilon: 1e-5,
      ropeTheta: 10_000,
      tiedEmbeddings: true,
      maxPositions: 1024,
    });
  });

  it("may leave out what transformers fills in", () => {
    const llama = as("llama", { head_dim: undefined, num_key_value_heads: undefined });
    expect([llama.headDim, llama.kvHeads]).toEqual([8, 4]);
    expect(as("llama", { num_key_value_heads: null, head_dim: null }).headDim).toBe(8);
    expect(as("mistral", { sliding_window: undefined }).slidingWindow?.size).toBe(4096);
    expect(as("qwen3", { head_dim: undefined }).headDim).toBe(128);
    expect(parsed({ rope_theta: undefined }).ropeTheta).toBe(10_000);
  });

  it("reads SmolLM2's own keys", () => {
    const smol = { is_llama_config: true, rope_interleaved: false, pretraining_tp: 1 };
    const note = { "transformers.js_config": { kv_cache_dtype: { q4f16: "float16" } } };
    expect(as("llama", { ...smol, ...note }).architecture).toBe("llama");
  });

  it("may hold keys that change nothing, and switches that are off", () => {
    const notes = {
      _name_or_path: "x",
      unsloth_fixed: true,
      eos_token_id: [1, 2],
      dtype: "bfloat16",
    };
    const off = {
      quantization_config: null,
      use_mrope: false,
      some_feature: false,
      pruned_heads: {},
    };
    expect(parsed({ ...notes, ...off })).toEqual(tinyConfig);
  });
});

describe("rotary positions in config.json", () => {
  const llama3 = { factor: 8, low_freq_factor: 1, high_freq_factor: 4 };
  const old = { original_max_position_embeddings: 64, rope_type: "llama3", ...llama3 };
  const scaling = {
    type: "llama3",
    factor: 8,
    lowFrequencyFactor: 1,
    highFrequencyFactor: 4,
    originalPositions: 64,
  };

  it("read alike in the older layout and in that of transformers 5", () => {
    const older = as("llama", { rope_theta: 5e5, rope_scaling: old });
    const rope_parameters = { ...old, rope_theta: 5e5 };
    const newer = as("llama", { rope_theta: undefined, rope_scaling: null, rope_parameters });
    expect([older.ropeTheta, older.ropeScaling]).toEqual([5e5, scaling]);
    expect(newer).toEqual(older);
  });

  it("may name their kind by the oldest key, or stay plain", () => {
    const linear = as("llama", { rope_scaling: { type: "linear", factor: 2 } });
    expect(linear.ropeScaling).toEqual({ type: "linear", factor: 2 });
    const rope_parameters = { rope_type: "default", rope_theta: 5e5 };
    const plain = parsed({ rope_theta: undefined, rope_parameters });
    expect([plain.ropeTheta, plain.ropeScaling]).toEqual([5e5, null]);
  });

  it("of llama3 were first trained on the longest sequence where the file does not say", () => {
    const rope_scaling = { ...old, original_max_position_embeddings: undefined };
    const read = as("llama", { rope_scaling }).ropeScaling;
    expect(read).toMatchObject({ originalPositions: 256 });
  });
});

describe("a sliding window in config.json", () => {
  it("of mistral covers every layer, or none", () => {
    const config = as("mistral", { sliding_window: 6 });
    expect([windowOf(config, 0), windowOf(config, 1)]).toEqual([6, 6]);
    expect(windowOf(as("mistral", { sliding_window: null }), 0)).toBe(Infinity);
  });

  it("of qwen begins where max_window_layers or layer_types say, once it is switched on", () => {
    const on = { use_sliding_window: true, sliding_window: 6 };
    const late = parsed({ ...on, max_window_layers: 1 });
    expect([windowOf(late, 0), windowOf(late, 1)]).toEqual([Infinity, 6]);
    expect(parsed({ ...on, max_window_layers: 2 }).slidingWindow).toBeNull();
    expect(parsed({ sliding_window: 6, max_window_layers: 0 }).slidingWindow).toBeNull();
    const layer_types = ["full_attention", "sliding_attention"];
    expect(parsed({ ...on, max_window_layers: 0, layer_types })).toEqual(late);
  });

  it("of qwen is refused where the list of layers says something else", () => {
    const on = { use_sliding_window: true, sliding_window: 6, max_window_layers: 0 };
    const [full, slides] = ["full_attention", "sliding_attention"];
    for (const layer_types of [[slides, full], [slides]]) {
      expect(refusal(() => parsed({ ...on, layer_types }))).toContain("layer_types is [");
    }
    expect(refusal(() => parsed({ layer_types: [full, slides] }))).toMatch(
      naming("config.json: layer_types", '"full_attention"', '"sliding_attention"'),
    );
  });
});

describe("a config.json that no decoder here fits", () => {
  it("is refused with the architecture and those that there are", () => {
    expect([
      refusal(() => parsed({ model_type: "gpt2" })),
      refusal(() => parsed({ model_type: "qwen" })),
      refusal(() => parsed({ model_type: undefined })),
      refusal(() => parsed({ architectures: ["Qwen2ForSequenceClassification"] })),
      refusal(() => parseDecoderConfig([], "config.json")),
    ]).toMatchInlineSnapshot(`
      [
        "config.json: model_type is "gpt2"; this architecture is not supported. Known: llama, mistral, qwen2, qwen3.",
        "config.json: model_type is "qwen"; this architecture is not supported. Did you mean "qwen2"? Known: llama, mistral, qwen2, qwen3.",
        "config.json: model_type is missing; this architecture is not supported. Known: llama, mistral, qwen2, qwen3.",
        "config.json: architectures.0 is "Qwen2ForSequenceClassification": allowed: "Qwen2ForCausalLM".",
        "config.json: is []: expected keys and values, including model_type.",
      ]
    `);
    const every = architectures.names.map((name) => as(name, { num_key_value_heads: 2 }));
    expect(every.map(({ architecture }) => architecture)).toEqual(architectures.names);
  });

  it("is refused with the key, what stands there and what is allowed", () => {
    expect([
      refusal(() => parsed({ rope_scaling: { type: "yarn", factor: 2 } })),
      refusal(() => parsed({ rope_parameters: { rope_type: "linear", rope_theta: 1e4 } })),
      refusal(() => parsed({ rope_scaling: { rope_type: "linear", factor: 2, beta_fast: 32 } })),
      refusal(() => parsed({ rope_scaling: "linear" })),
      refusal(() => as("llama", { rope_interleaved: true })),
      refusal(() => as("llama", { attention_bias: true })),
      refusal(() => as("qwen3", { num_key_value_heads: undefined })),
      refusal(() => parsed({ num_key_value_heads: 3 })),
      refusal(() => parsed({ head_dim: 5 })),
      refusal(() => parsed({ head_dim: undefined, hidden_size: 30 })),
      refusal(() => parsed({ hidden_act: "gelu" })),
      refusal(() => parsed({ vocab_size: undefined })),
    ]).toMatchInlineSnapshot(`
      [
        "config.json: rope_scaling is {"type":"yarn","factor":2}: allowed for rope_type: default, linear, llama3.",
        "config.json: rope_parameters.factor is missing: expected a number.",
        "config.json: rope_scaling.beta_fast is not a key here. Known: rope_type, factor, rope_theta, partial_rotary_factor.",
        "config.json: rope_scaling is "linear": expected keys and values.",
        "config.json: rope_interleaved is true: allowed: false.",
        "config.json: attention_bias is true: allowed: false.",
        "config.json: num_key_value_heads is missing: expected a number.",
        "config.json: num_key_value_heads is 3: expected a divisor of the 4 heads.",
        "config.json: head_dim is 5 (missing, it is hidden_size 32 / 4 heads): expected an even whole number, because rotary positions rotate halves.",
        "config.json: head_dim is 7.5 (missing, it is hidden_size 30 / 4 heads): expected an even whole number, because rotary positions rotate halves.",
        "config.json: hidden_act is "gelu": allowed: "silu".",
        "config.json: vocab_size is missing: expected a number.",
      ]
    `);
  });

  it("is refused for a key that may mean another model", () => {
    expect([
      refusal(() => parsed({ quantization_config: { bits: 4 } })),
      refusal(() => parsed({ final_logit_softcapping: 30 })),
      refusal(() => parsed({ rope_tetha: 1e6 })),
    ]).toMatchInlineSnapshot(`
      [
        "config.json: quantization_config is {"bits":4}; models of type qwen2 do not have this key. Known: vocab_size, hidden_size, num_hidden_layers, num_attention_heads, intermediate_size, rms_norm_eps, max_position_embeddings, tie_word_embeddings, hidden_act, attention_dropout, rope_theta, rope_scaling, rope_parameters, rope_interleaved, partial_rotary_factor, num_key_value_heads, head_dim, use_sliding_window, sliding_window, max_window_layers, layer_types, use_mrope, model_type, architectures. If it does not affect the model's output, remove it from the file.",
        "config.json: final_logit_softcapping is 30; models of type qwen2 do not have this key. Known: vocab_size, hidden_size, num_hidden_layers, num_attention_heads, intermediate_size, rms_norm_eps, max_position_embeddings, tie_word_embeddings, hidden_act, attention_dropout, rope_theta, rope_scaling, rope_parameters, rope_interleaved, partial_rotary_factor, num_key_value_heads, head_dim, use_sliding_window, sliding_window, max_window_layers, layer_types, use_mrope, model_type, architectures. If it does not affect the model's output, remove it from the file.",
        "config.json: rope_tetha is 1000000; models of type qwen2 do not have this key. Did you mean "rope_theta"? Known: vocab_size, hidden_size, num_hidden_layers, num_attention_heads, intermediate_size, rms_norm_eps, max_position_embeddings, tie_word_embeddings, hidden_act, attention_dropout, rope_theta, rope_scaling, rope_parameters, rope_interleaved, partial_rotary_factor, num_key_value_heads, head_dim, use_sliding_window, sliding_window, max_window_layers, layer_types, use_mrope, model_type, architectures. If it does not affect the model's output, remove it from the file.",
      ]
    `);
  });

  it("is refused where llama3's borders are the wrong way round", () => {
    const rope_scaling = {
      rope_type: "llama3",
      factor: 8,
      low_freq_factor: 4,
      high_freq_factor: 1,
    };
    expect(refusal(() => as("llama", { rope_scaling }))).toMatch(
      naming("config.json: rope_scaling.high_freq_factor", "1"),
    );
  });
});
