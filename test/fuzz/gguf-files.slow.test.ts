/** Damaged GGUF files through `agentrl models convert`: each is refused, or its weights are exactly those of the undamaged file. */
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { random } from "../../src/base/random.ts";
import { sha256File } from "../../src/base/files.ts";
import { runFuzzed } from "../helpers/fuzz.ts";
import { ggufBytes, type GgufTensorBytes } from "../helpers/gguf-bytes.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { commandNamed } from "../helpers/run-command.ts";

const modelsCommand = commandNamed("models");

const folder = temporaryFolder();
const file = join(folder, "model.gguf");
const draw = random(11);

const metadata = {
  "general.architecture": "llama",
  "llama.block_count": 2,
  "llama.context_length": 16,
  "llama.embedding_length": 32,
  "llama.feed_forward_length": 32,
  "llama.attention.head_count": 2,
  "llama.attention.head_count_kv": 1,
  "llama.attention.layer_norm_rms_epsilon": { float: 1e-5 },
  "llama.rope.dimension_count": 16,
  "tokenizer.ggml.model": "gpt2",
  "tokenizer.ggml.pre": "gpt-2",
  "tokenizer.ggml.tokens": ["a", "b", "c", "ab", "abc"],
  "tokenizer.ggml.merges": ["a b", "ab c"],
  "tokenizer.ggml.eos_token_id": 1,
  "general.alignment": 32,
};

/** A matrix in blocks of 32, or numbers. */
function tensor(name: string, type: number, ...dims: number[]): GgufTensorBytes {
  const count = dims.reduce((n, axis) => n * axis, 1);
  if (type === 0) {
    const numbers = Float32Array.from({ length: count }, () => draw.next() - 0.5);
    return { name, dims, type, data: new Uint8Array(numbers.buffer) };
  }
  const block = (): number[] => [0, 0x2c, ...Array.from({ length: 32 }, () => draw.int(256))];
  const data = Uint8Array.from({ length: count / 32 }, () => 0).length;
  return { name, dims, type, data: Uint8Array.from(Array.from({ length: data }, block).flat()) };
}

const tensors = [
  tensor("token_embd.weight", 8, 32, 5),
  tensor("output_norm.weight", 0, 32),
  ...[0, 1].flatMap((layer) => [
    ...["attn_q", "attn_output", "ffn_gate", "ffn_up", "ffn_down"].map((name) =>
      tensor(`blk.${layer}.${name}.weight`, 8, 32, 32),
    ),
    ...["attn_k", "attn_v"].map((name) => tensor(`blk.${layer}.${name}.weight`, 8, 32, 16)),
    ...["attn_norm", "ffn_norm"].map((name) => tensor(`blk.${layer}.${name}.weight`, 0, 32)),
  ]),
];
const whole = ggufBytes(metadata, tensors);
const dataStart =
  whole.length - tensors.reduce((n, { data }) => n + Math.ceil(data.length / 32) * 32, 0);

let expected = "";
const counts = { refused: 0, equal: 0 };

async function converted(bytes: Uint8Array, about: string): Promise<string | null> {
  await writeFile(file, bytes);
  const out = join(folder, "out");
  await rm(out, { recursive: true, force: true });
  const { status } = await runFuzzed(
    modelsCommand,
    ["models", "convert", file, "--out", out],
    about,
  );
  return status === 0 ? sha256File(join(out, "model.safetensors")) : null;
}

async function check(bytes: Uint8Array, about: string): Promise<void> {
  const found = await converted(bytes, about);
  if (found !== null) expect(found, about).toBe(expected);
  counts[found === null ? "refused" : "equal"] += 1;
}

beforeAll(async () => {
  expected = (await converted(whole, "whole"))!;
  expect(expected).toMatch(/^[0-9a-f]{64}$/);
});

afterAll(() => {
  process.stdout.write(`GGUF files: ${JSON.stringify(counts)}\n`);
});

describe("a damaged GGUF file", () => {
  it("with a changed bit of its header is refused, or keeps its weights", async () => {
    for (let i = 0; i < 60; i++) {
      const bytes = Buffer.from(whole);
      const place = draw.int(dataStart);
      bytes[place]! ^= 1 << draw.int(8);
      await check(bytes, `bit of byte ${place}, case ${i}`);
    }
  });

  it("with a huge count, length, size or offset is refused, or keeps its weights", async () => {
    const huge = [2n ** 32n, 2n ** 53n, 2n ** 60n, 2n ** 63n, 2n ** 64n - 1n, 2n ** 31n - 1n];
    for (const place of [8, 16]) {
      for (const number of huge) {
        const bytes = Buffer.from(whole);
        bytes.writeBigUInt64LE(number, place);
        await check(bytes, `count ${number} at ${place}`);
      }
    }
    for (let i = 0; i < 40; i++) {
      const bytes = Buffer.from(whole);
      const place = 24 + draw.int(dataStart - 32);
      bytes.writeBigUInt64LE(huge[draw.int(huge.length)]!, place);
      await check(bytes, `huge number at ${place}, case ${i}`);
    }
  });

  it("cut anywhere, or with another beginning, is refused", async () => {
    for (let i = 0; i < 12; i++) {
      const bytes = whole.subarray(0, draw.int(whole.length - 32));
      expect(await converted(bytes, `cut at ${bytes.length}`)).toBeNull();
    }
    const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 270\n";
    for (const start of ["", "{}", "PK\u0003\u0004", pointer])
      expect(await converted(Buffer.from(start), start)).toBeNull();
    counts.refused += 16;
  });

  it("with an infinite scale of any block is refused", async () => {
    for (let i = 0; i < 8; i++) {
      const bytes = Buffer.from(whole);
      bytes.writeUInt16LE([0x7c00, 0xfc00, 0x7e00][i % 3]!, dataStart + 34 * draw.int(5));
      expect(await converted(bytes, `scale ${i}`)).toBeNull();
      counts.refused += 1;
    }
  });

  it("with other metadata is refused, or keeps its weights", async () => {
    const odd = [
      0,
      1,
      3,
      2 ** 31,
      "x",
      true,
      { float: NaN },
      { float: Infinity },
      { float: 1.5 },
      [],
    ];
    const keys = Object.keys(metadata);
    for (const [i, key] of [...keys, ...keys].entries()) {
      const value = odd[draw.int(odd.length)]!;
      const bytes = ggufBytes({ ...metadata, [key]: value }, tensors);
      await check(bytes, `${key}: ${JSON.stringify(value)}, case ${i}`);
    }
    const twice = ["a", "b", "c", "ab", "ab"];
    const bytes = ggufBytes({ ...metadata, "tokenizer.ggml.tokens": twice }, tensors);
    expect(await converted(bytes, "a token twice")).toBeNull();
    expect(await readFile(file)).toHaveLength(bytes.length);
  });
});
