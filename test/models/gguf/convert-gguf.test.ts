import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ErrorCode } from "../../../src/base/errors.ts";
import { convertGguf, describeGguf, unpairRows } from "../../../src/models/gguf/convert-gguf.ts";
import { readSafetensors } from "../../../src/models/safetensors.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { ggufBytes, type GgufTensorBytes } from "../../helpers/gguf-bytes.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const path = join(folder, "file.gguf");
const out = join(folder, "out");

const metadata = {
  "general.architecture": "llama",
  "llama.block_count": 1,
  "llama.context_length": 16,
  "llama.embedding_length": 4,
  "llama.feed_forward_length": 4,
  "llama.attention.head_count": 2,
  "llama.attention.layer_norm_rms_epsilon": { float: 1e-5 },
  "tokenizer.ggml.model": "gpt2",
  "tokenizer.ggml.pre": "gpt-2",
  "tokenizer.ggml.tokens": ["a", "b", "ab"],
  "tokenizer.ggml.merges": ["a b"],
  "tokenizer.ggml.eos_token_id": 1,
  "tokenizer.ggml.eot_token_id": 2,
};
type Metadata = Parameters<typeof ggufBytes>[0];

/** A float32 tensor, inner axis first, that counts from 0. */
function tensor(name: string, ...dims: number[]): GgufTensorBytes {
  const count = dims.reduce((n, axis) => n * axis, 1);
  const data = new Uint8Array(Float32Array.from({ length: count }, (_, i) => i).buffer);
  return { name, dims, type: 0, data };
}
const layer = (name: string, ...dims: number[]): GgufTensorBytes =>
  tensor(`blk.0.${name}.weight`, ...dims);
const tensors = [
  tensor("token_embd.weight", 4, 3),
  tensor("output_norm.weight", 4),
  ...["attn_q", "attn_k", "attn_v", "attn_output"].map((name) => layer(name, 4, 4)),
  ...["ffn_gate", "ffn_up", "ffn_down"].map((name) => layer(name, 4, 4)),
  ...["attn_norm", "ffn_norm"].map((name) => layer(name, 4)),
];

async function refused(
  code: ErrorCode,
  message: string,
  changed: Metadata = {},
  given: readonly GgufTensorBytes[] = tensors,
): Promise<void> {
  await writeFile(path, ggufBytes({ ...metadata, ...changed }, given));
  const nowhere = join(folder, "refused");
  await expect(convertGguf(path, nowhere)).rejects.toThrow(errorWith(code, message));
  expect(existsSync(nowhere)).toBe(false);
}
const unsupported = (message: string, changed: Metadata): Promise<void> =>
  refused("MODEL_CONFIG_UNSUPPORTED", message, changed);

describe("unpairRows", () => {
  it("puts the halves of each head together again", () => {
    // Two heads of four rows: neighbours 0 1, 2 3 are rows 0 2 and 1 3 of the head.
    const stored = Float32Array.of(0, 2, 1, 3, 4, 6, 5, 7).map((row) => 10 * row);
    expect([...unpairRows(stored, 8, 2)]).toEqual([0, 10, 20, 30, 40, 50, 60, 70]);
  });
});

describe("convertGguf", () => {
  it("writes a folder of the file's model, with the ids that end a completion", async () => {
    await writeFile(
      path,
      ggufBytes({ ...metadata, "tokenizer.chat_template.tool_use": "T" }, tensors),
    );
    const seen: number[] = [];
    await convertGguf(path, out, { onProgress: (done) => seen.push(done) });
    expect(seen).toEqual(Array.from({ length: tensors.length + 1 }, (_, i) => i));
    const config = JSON.parse(await readFile(join(out, "config.json"), "utf8")) as object;
    expect(config).toMatchObject({
      model_type: "llama",
      vocab_size: 3,
      rms_norm_eps: 1e-5,
      rope_theta: 10_000,
      tie_word_embeddings: true,
      eos_token_id: [1, 2],
      torch_dtype: "float32",
    });
    const generation = await readFile(join(out, "generation_config.json"), "utf8");
    expect(JSON.parse(generation)).toEqual({ eos_token_id: [1, 2] });
    expect(await readFile(join(out, "additional_chat_templates/tool_use.jinja"), "utf8")).toBe("T");
    const weights = await readSafetensors(join(out, "model.safetensors"));
    const q = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
    // Heads of two rows: their halves are single rows, so no row moves.
    expect([...weights.get("model.layers.0.self_attn.q_proj.weight")!.data]).toEqual(q);
  });

  it("rounds matrices to a dtype on request, and leaves vectors", async () => {
    const norm = Float32Array.of(1 + 2 ** -20, 1, 1, 1);
    const changed = tensors.map((each) =>
      each.name === "output_norm.weight" ? { ...each, data: new Uint8Array(norm.buffer) } : each,
    );
    await writeFile(path, ggufBytes(metadata, changed));
    expect(await convertGguf(path, out, { dtype: "BF16" })).toMatchObject({ dtype: "BF16" });
    const weights = await readSafetensors(join(out, "model.safetensors"));
    expect([...weights.get("model.norm.weight")!.data]).toEqual([...norm]);
    const large = Float32Array.from({ length: 16 }, () => 7e4);
    const beyond = tensors.map((each) =>
      each.name === "blk.0.attn_v.weight" ? { ...each, data: new Uint8Array(large.buffer) } : each,
    );
    await writeFile(path, ggufBytes(metadata, beyond));
    await expect(convertGguf(path, out, { dtype: "F16" })).rejects.toThrow(
      errorWith("WEIGHT_TOO_LARGE", '.self_attn.v_proj.weight" contains 70000'),
    );
  });

  it("describes the model without writing it", async () => {
    await writeFile(path, ggufBytes(metadata, tensors));
    const { config, dtype, types } = await describeGguf(path);
    expect(config).toMatchObject({ layers: 1, heads: 2, kvHeads: 2, headDim: 2, vocabSize: 3 });
    expect([dtype, ...types]).toEqual(["F32", ["F32", 8]]);
  });

  it("refuses models that are not supported, with the key and its value", async () => {
    await unsupported(
      'general.architecture is "mamba"; this architecture is not supported. Known: llama, qwen2, qwen3',
      { "general.architecture": "mamba" },
    );
    await unsupported('general.type is "adapter"; only "model"', { "general.type": "adapter" });
    await unsupported("is one of 3 parts (split.count)", { "split.count": 3 });
    await unsupported("llama.expert_count is 8, which may change", { "llama.expert_count": 8 });
    await unsupported('llama.rope.scaling.type is "yarn"; supported: none, linear', {
      "llama.rope.scaling.type": "yarn",
    });
    await unsupported("llama.rope.dimension_count is 1; supported: 2", {
      "llama.rope.dimension_count": 1,
    });
    await unsupported("llama.feed_forward_length is [4,8]; expected one number", {
      "llama.feed_forward_length": [4, 8],
    });
    await unsupported("llama.attention.head_count is false; expected one number", {
      "llama.attention.head_count": false,
    });
    await unsupported("has no qwen2.attention.head_count in its metadata", {
      "general.architecture": "qwen2",
    });
    await unsupported("num_key_value_heads is 3: expected a divisor of the 2 heads", {
      "llama.attention.head_count_kv": [3, 3],
    });
  });

  it("reads linear scaling, and llama3's from its divisors alone", async () => {
    const linear = {
      "llama.rope.scaling.type": "linear",
      "llama.rope.scaling.factor": { float: 4 },
    };
    await writeFile(path, ggufBytes({ ...metadata, ...linear }, tensors));
    expect((await describeGguf(path)).config.ropeScaling).toEqual({ type: "linear", factor: 4 });
    const divided = (numbers: readonly number[]): GgufTensorBytes[] => {
      const data = new Uint8Array(Float32Array.from(numbers).buffer);
      return [...tensors, { name: "rope_freqs.weight", dims: [numbers.length], type: 0, data }];
    };
    await writeFile(path, ggufBytes(metadata, divided([1])));
    expect((await describeGguf(path)).config.ropeScaling).toMatchObject({
      type: "llama3",
      factor: 1,
    });
    const code = "MODEL_CONFIG_UNSUPPORTED";
    await refused(code, '"rope_freqs.weight" divides frequency 0 by 3', {}, divided([3]));
    await refused(code, '"rope_freqs.weight" is [2]; expected [1]', {}, divided([1, 1]));
  });

  it("refuses tensors that the metadata do not require", async () => {
    const code = "CHECKPOINT_MISFIT";
    await refused(
      code,
      'contains "blk.0.attn_q.bias", which models of type llama do not have',
      {},
      [...tensors, tensor("blk.0.attn_q.bias", 4)],
    );
    await refused(code, 'has no tensor "blk.0.ffn_norm.weight" [4]', {}, tensors.slice(0, -1));
    const wide = tensors.map((each) =>
      each.name === "blk.0.ffn_up.weight" ? layer("ffn_up", 4, 5) : each,
    );
    await refused(
      code,
      '"blk.0.ffn_up.weight" is [5, 4], but the metadata require [4, 4]',
      {},
      wide,
    );
  });

  it("refuses tokenizers that it does not know, with the key and what it supports", async () => {
    const code = "TOKENIZER_BAD";
    await refused(code, 'tokenizer.ggml.pre is "poro-chat"; supported: gpt-2, smollm', {
      "tokenizer.ggml.pre": "poro-chat",
    });
    await refused(code, 'tokenizer.ggml.model is "bert"', { "tokenizer.ggml.model": "bert" });
    await refused(code, "token_type has 1 entries for 3 tokens", {
      "tokenizer.ggml.token_type": [1],
    });
    await refused(code, "special token 9 is beyond the 3 tokens", {
      "tokenizer.ggml.bos_token_id": 9,
    });
    await refused(code, "scores has 0 entries for 3 tokens", { "tokenizer.ggml.model": "llama" });
    const { "tokenizer.ggml.merges": _, ...mergeless } = metadata;
    await writeFile(path, ggufBytes(mergeless, tensors));
    await expect(convertGguf(path, join(folder, "refused"))).rejects.toThrow(
      errorWith(code, "needs tokenizer.ggml.merges"),
    );
  });
});
