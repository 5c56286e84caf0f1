import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  readCheckpoint,
  readDecoderConfig,
  readHalfWeights,
  readWeights,
  unflatten,
  writeCheckpoint,
} from "../../src/models/checkpoint.ts";
import { writeJson } from "../../src/base/files.ts";
import { initialWeights } from "../../src/models/initialise.ts";
import { parameterCount, parameterSpecs, totalSize } from "../../src/models/parameters.ts";
import {
  readSafetensors,
  writeSafetensors,
  type NamedTensor,
} from "../../src/models/safetensors.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { tinyConfig, writeTinyModel } from "../helpers/tiny-model.ts";
import { naming } from "../helpers/naming.ts";

const folder = temporaryFolder();

async function failure(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "no failure",
    (error: unknown) => {
      expect(error).toMatchObject({ code: "CHECKPOINT_MISFIT" });
      return (error as Error).message.replaceAll(folder, "");
    },
  );
}

/** A checkpoint whose tensors were changed. */
async function damaged(
  name: string,
  change: (tensors: ReturnType<typeof unflatten>) => ReturnType<typeof unflatten>,
): Promise<string> {
  const to = await writeTinyModel(join(folder, name));
  const { config, weights } = await readCheckpoint(to);
  const tensors = change(unflatten(config, weights));
  await writeSafetensors(join(to, "model.safetensors"), tensors, "F32");
  return failure(readCheckpoint(to));
}

describe("a checkpoint", () => {
  it("comes back as it was written, with its tokenizer", async () => {
    const from = await writeTinyModel(join(folder, "from"));
    const checkpoint = await readCheckpoint(from);
    await writeCheckpoint(join(folder, "to"), checkpoint, { dtype: "F32", tokenizerFrom: from });
    expect(await readCheckpoint(join(folder, "to"))).toEqual(checkpoint);
    for (const file of ["model.safetensors", "tokenizer.json", "tokenizer_config.json"]) {
      const [a, b] = await Promise.all(["from", "to"].map((n) => readFile(join(folder, n, file))));
      expect(b!.equals(a!)).toBe(true);
    }
  });

  it("is read into memory that several threads share, as into any other", async () => {
    const at = await writeTinyModel(join(folder, "shared"));
    const config = await readDecoderConfig(at);
    expect(config).toEqual(tinyConfig);
    const into = new Float32Array(new SharedArrayBuffer(4 * parameterCount(config)));
    await readWeights(at, config, into);
    expect(new Float32Array(into)).toEqual((await readCheckpoint(at)).weights);
  });

  it("that lacks a tensor says which", async () => {
    expect(await damaged("lacking", (tensors) => tensors.slice(0, -1))).toMatch(
      naming("/lacking/model.safetensors:", '"model.norm.weight"', "[32]"),
    );
  });

  it("whose tensor has another shape says which, and what was asked for", async () => {
    const message = await damaged("reshaped", (tensors) =>
      tensors.map((each, i) => (i === 0 ? { ...each, shape: [150, 64] } : each)),
    );
    expect(message).toMatch(
      naming(
        "/reshaped/model.safetensors:",
        '"model.embed_tokens.weight"',
        "[150, 64]",
        "[300, 32]",
      ),
    );
  });

  it("with a tensor too many says which", async () => {
    const extra = { name: "score.weight", shape: [1], data: Float32Array.of(1) };
    expect(await damaged("extra", (tensors) => [...tensors, extra])).toMatch(
      naming("/extra/model.safetensors:", '"score.weight"'),
    );
  });

  it("may store the output matrix beside the embedding that it is tied to", async () => {
    const both = (tensors: NamedTensor[]): NamedTensor[] => [
      ...tensors,
      { ...tensors[0]!, name: "lm_head.weight" },
    ];
    expect(await damaged("both", both)).toBe("no failure");
  });

  it("whose stored output matrix is not the embedding that it is tied to says so", async () => {
    const data = new Float32Array(tinyConfig.vocabSize * tinyConfig.hiddenSize);
    const head = { name: "lm_head.weight", shape: [300, 32], data };
    expect(await damaged("differing", (tensors) => [...tensors, head])).toMatch(
      naming(
        "/differing/model.safetensors:",
        '"lm_head.weight"',
        "[300, 32]",
        '"model.embed_tokens.weight"',
        '"lm_head.weight"',
      ),
    );
    const halves = readHalfWeights(join(folder, "differing"), tinyConfig, "F16", (spec, read) =>
      read(new Uint16Array(totalSize([spec]))),
    );
    expect(await failure(halves)).toContain('"lm_head.weight" [300, 32] differs');
    const small = { ...head, shape: [1, 32], data: data.subarray(0, 32) };
    expect(await damaged("small", (tensors) => [...tensors, small])).toContain("[1, 32] differs");
  });

  it("may hold the rotary frequencies that old Llama files store", async () => {
    const name = "model.layers.0.self_attn.rotary_emb.inv_freq";
    const buffer = { name, shape: [4], data: new Float32Array(4) };
    expect(await damaged("buffer", (tensors) => [...tensors, buffer])).toBe("no failure");
  });

  it("that lacks an output matrix of its own says so", async () => {
    const at = await writeTinyModel(join(folder, "headless"));
    const path = join(at, "config.json");
    const json = JSON.parse(await readFile(path, "utf8")) as object;
    await writeJson(path, { ...json, tie_word_embeddings: false });
    expect(await failure(readCheckpoint(at))).toContain('has no tensor "lm_head.weight" [300, 32]');
  });

  it("keeps how to sample and the special tokens that its config.json names", async () => {
    const from = await writeTinyModel(join(folder, "speaking"));
    const path = join(from, "config.json");
    const json = JSON.parse(await readFile(path, "utf8")) as object;
    await writeJson(path, { ...json, eos_token_id: [0, 3], model_name: "left behind" });
    await writeJson(join(from, "generation_config.json"), { temperature: 0.6 });
    const to = join(folder, "speaking-too");
    const options = { dtype: "BF16", tokenizerFrom: from } as const;
    await writeCheckpoint(to, await readCheckpoint(from), options);
    const read = async (file: string): Promise<unknown> =>
      JSON.parse(await readFile(join(to, file), "utf8"));
    expect(await read("generation_config.json")).toEqual({ temperature: 0.6 });
    const written = await read("config.json");
    expect(written).toMatchObject({ eos_token_id: [0, 3], torch_dtype: "bfloat16" });
    expect(written).not.toHaveProperty("model_name");
  });
});

describe("parameters", () => {
  it("are as many as counted by hand", () => {
    // Vocabulary 300 · 32; a layer: norms 2 · 32, q and o 32 · 32 each, k and v 16 · 32 each, biases 32 + 16 + 16, three
    // matrices of 48 · 32; the last norm 32.
    const layer = 64 + 2 * 1024 + 2 * 512 + 64 + 3 * 1536;
    expect(parameterCount(tinyConfig)).toBe(9600 + 2 * layer + 32);
    expect(parameterCount({ ...tinyConfig, tiedEmbeddings: false })).toBe(
      2 * 9600 + 2 * layer + 32,
    );
  });

  it("decay in matrices only", () => {
    for (const { shape, decays } of parameterSpecs(tinyConfig)) {
      expect(decays).toBe(shape.length === 2);
    }
  });

  it("start the same for the same seed, queries of each group's first head as its keys", () => {
    const [one, two] = [initialWeights(tinyConfig, 4), initialWeights(tinyConfig, 4)];
    expect(two).toEqual(one);
    expect(initialWeights(tinyConfig, 5)).not.toEqual(one);
    const q = one.find(({ name }) => name.includes("layers.1.self_attn.q_proj.weight"))!.data;
    const k = one.find(({ name }) => name.includes("layers.1.self_attn.k_proj.weight"))!.data;
    const head = 8 * 32;
    expect(q.subarray(0, head)).toEqual(k.subarray(0, head));
    expect(q.subarray(2 * head, 3 * head)).toEqual(k.subarray(head, 2 * head));
    expect(q.subarray(head, 2 * head)).not.toEqual(k.subarray(0, head));
  });
});

describe("the tokenizer beside a checkpoint", () => {
  it("travels unchanged when the folder is written over itself", async () => {
    const at = await writeTinyModel(join(folder, "same"));
    const before = await readFile(join(at, "tokenizer.json"));
    await writeCheckpoint(at, await readCheckpoint(at), { dtype: "F16", tokenizerFrom: at });
    expect((await readFile(join(at, "tokenizer.json"))).equals(before)).toBe(true);
    expect((await readSafetensors(join(at, "model.safetensors"))).size).toBeGreaterThan(0);
  });
});
