import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { openEncoder } from "../../../src/retrieval/dense/encoder.ts";
import { expectClose } from "../../helpers/expect-close.ts";
import { describeOnGpu } from "../../helpers/gpu.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { runNode } from "../../helpers/run-node.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import { writeTinyEncoder } from "../../helpers/tiny-encoder.ts";

const folder = temporaryFolder();
const words = ["oslo", "norway", "rain", "capital", "of", "the", "is", "query", "passage", ":"];
const plain = join(folder, "plain");

beforeAll(async () => {
  await writeTinyEncoder(plain, words);
});

function cosine(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, x, d) => sum + x * b[d]!, 0);
}

async function vectorsOf(
  model: string,
  options: Parameters<typeof openEncoder>[1],
  texts: string[],
  run = {},
): Promise<Float32Array[]> {
  const encoder = await openEncoder(model, options, run);
  const all = await encoder.encodePassages(texts);
  await encoder.close();
  const { dimensions } = encoder;
  return texts.map((_, i) => all.subarray(i * dimensions, (i + 1) * dimensions));
}

describeOnGpu("an encoder on WebGPU", () => {
  it("gives the vectors of the CPU but for rounding", async () => {
    const texts = ["oslo is the capital of norway", "rain", "the capital of norway is oslo"];
    const onCpu = await vectorsOf(plain, {}, texts);
    const onGpu = await vectorsOf(plain, {}, texts, { device: "webgpu" });
    onGpu.forEach((vector, i) => expectClose(vector, onCpu[i]!, { atol: 1e-5 }));
  });
});

describe("an encoder", () => {
  it("gives no vector from weights that are not finite", async () => {
    const damaged = join(folder, "damaged");
    await writeTinyEncoder(damaged, words);
    const file = join(damaged, "onnx", "model.onnx");
    const bytes = await readFile(file);
    // NaN, wherever the numbers begin.
    bytes.fill(0xff, bytes.length >> 1, (bytes.length >> 1) + 8);
    await writeFile(file, bytes);
    await expect(vectorsOf(damaged, {}, [words.join(" ")])).rejects.toThrow(
      errorWith("ENCODER_BAD", "non-finite"),
    );
  });

  it("gives a text the same vector whatever stands beside it in the batch", async () => {
    const texts = ["oslo", "the capital of norway is oslo", "", "rain rain", "of the"];
    const together = await vectorsOf(plain, {}, texts);
    const alone = await vectorsOf(plain, {}, texts, { batchTokens: 1 });
    for (const [i, vector] of together.entries()) {
      expect(cosine(vector, alone[i]!)).toBeCloseTo(1, 5);
      expect(cosine(vector, vector)).toBeCloseTo(1, 6); // of length 1
    }
  });

  it("puts texts of the same words nearer than others", async () => {
    const [a, b, c] = await vectorsOf(plain, {}, ["rain norway", "norway rain", "capital of"]);
    expect(cosine(a!, b!)).toBeCloseTo(1, 5);
    expect(cosine(a!, c!)).toBeLessThan(0.9);
  });

  it("takes the first token's vector, the last one's or the mean, scaled or not", async () => {
    const last = await vectorsOf(plain, { pooling: "last", normalize: false }, ["oslo", "rain"]);
    const first = await vectorsOf(plain, { pooling: "cls", normalize: false }, ["oslo", "rain"]);
    // [CLS] and [SEP] frame every text, and this model does not mix tokens.
    expect(first[0]).toEqual(first[1]);
    expect(last[0]).toEqual(last[1]);
    expect(first[0]).not.toEqual(last[0]);
    const [mean] = await vectorsOf(plain, { normalize: false }, [""]);
    for (const [d, x] of mean!.entries())
      expect(x).toBeCloseTo((first[0]![d]! + last[0]![d]!) / 2, 6);
  });

  it("cuts long texts at their end and keeps the closing token", async () => {
    const options = { maxTokens: 4, pooling: "last", normalize: false } as const;
    const [cut, closing] = await vectorsOf(plain, options, ["oslo norway rain capital", ""]);
    expect(cut).toEqual(closing);
    const [long, short] = await vectorsOf(plain, { maxTokens: 4 }, [
      "oslo norway rain",
      "oslo norway",
    ]);
    expect(long).toEqual(short);
  });

  it("puts E5's prefixes before queries and passages, and a model's own before E5's", async () => {
    const e5 = await writeTinyEncoder(join(folder, "e5-tiny"), words);
    const encoder = await openEncoder(e5);
    const bare = await openEncoder(e5, { queryPrefix: "", passagePrefix: "" });
    expect(encoder.settings).toMatchObject({ queryPrefix: "query: ", passagePrefix: "passage: " });
    expect(await encoder.encodeQueries(["oslo"])).toEqual(
      await bare.encodeQueries(["query: oslo"]),
    );
    expect(await encoder.encodePassages(["oslo"])).toEqual(
      await bare.encodeQueries(["passage: oslo"]),
    );
    expect(bare.fingerprint).not.toBe(encoder.fingerprint);
    const prompted = await writeTinyEncoder(join(folder, "prompted-e5"), words, {
      files: {
        "config_sentence_transformers.json": { prompts: { query: "rain: ", document: "" } },
      },
    });
    const { settings } = await openEncoder(prompted);
    expect(settings).toMatchObject({ queryPrefix: "rain: ", passagePrefix: "passage: " });
  });

  it("follows the files of sentence-transformers", async () => {
    const model = await writeTinyEncoder(join(folder, "sentence"), words, {
      config: { max_position_embeddings: 32 },
      files: {
        "modules.json": [{ type: "sentence_transformers.models.Transformer" }],
        "1_Pooling/config.json": { pooling_mode_cls_token: true, pooling_mode_mean_tokens: false },
        "sentence_bert_config.json": { max_seq_length: 24 },
      },
    });
    const { settings } = await openEncoder(model);
    expect(settings).toEqual({
      queryPrefix: "",
      passagePrefix: "",
      pooling: "cls",
      normalize: false,
      maxTokens: 24,
      dtype: "fp32",
    });
  });

  it("stops between batches when asked to", async () => {
    const encoder = await openEncoder(plain);
    const signal = AbortSignal.abort(new Error("stop"));
    await expect(encoder.encodeQueries(["oslo"], signal)).rejects.toThrow("stop");
    await encoder.close();
  });
});

describe("a model that cannot be opened", () => {
  it("is named, with what a model needs", async () => {
    await expect(openEncoder(join(folder, "none"))).rejects.toThrow(
      errorWith("ENCODER_BAD", "(owner/name)"),
    );
    await expect(openEncoder(folder)).rejects.toThrow(
      errorWith("ENCODER_BAD", "has no onnx/model.onnx"),
    );
    await expect(openEncoder(plain, { dtype: "q8" })).rejects.toThrow(
      errorWith("ENCODER_BAD", "model_quantized.onnx"),
    );
    const headless = await writeTinyEncoder(join(folder, "headless"), words);
    await rm(join(headless, "tokenizer.json"));
    await expect(openEncoder(headless)).rejects.toThrow(errorWith("ENCODER_BAD", "tokenizer.json"));
  });

  it("from a hub that does not answer says so, and what else to do", async () => {
    process.env["HF_ENDPOINT"] = "http://127.0.0.1:9";
    try {
      await expect(openEncoder("nobody/nothing")).rejects.toThrow(
        errorWith("ENCODER_UNAVAILABLE", /nobody\/nothing: .*HF_ENDPOINT/),
      );
    } finally {
      delete process.env["HF_ENDPOINT"];
    }
  });

  it("says what to install where the library is missing", async () => {
    const script = `
      import { register } from "node:module";
      register("data:text/javascript," + encodeURIComponent(
        'export const resolve = (name, context, next) => { if (name.startsWith("@huggingface/transformers")) throw new Error("Cannot find package"); return next(name, context); };'
      ));
      const { openEncoder } = await import("./dist/retrieval/dense/encoder.js");
      await openEncoder("x").catch((error) => console.log(error.code, error.message));`;
    expect(await runNode(script)).toBe(
      "ENCODER_LIBRARY_MISSING @huggingface/transformers does not load (Cannot find package). Dense retrieval and reranking run their models with it: npm install --ignore-scripts @huggingface/transformers@4\n",
    );
  });
});

it("downloads a model from the hub once, with the files that say how to use it", async () => {
  const model = await writeTinyEncoder(join(folder, "served"), words, {
    files: { "1_Pooling/config.json": { pooling_mode_cls_token: true } },
  });
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const name = request.url!.replace("/tests/tiny/resolve/main/", "");
    asked.push(name);
    readFile(join(model, name)).then(
      (content) => response.end(content),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const before = process.env["XDG_CACHE_HOME"];
  process.env["XDG_CACHE_HOME"] = join(folder, "cache");
  process.env["HF_ENDPOINT"] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    const encoder = await openEncoder("tests/tiny");
    expect(encoder.settings.pooling).toBe("cls");
    expect(asked).toContain("onnx/model.onnx");
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    expect(existsSync(join(folder, "cache/agentrl/encoders/tests/tiny/config.json"))).toBe(true);
    const again = await openEncoder("tests/tiny");
    expect(again.fingerprint).toBe(encoder.fingerprint);
  } finally {
    if (before === undefined) delete process.env["XDG_CACHE_HOME"];
    else process.env["XDG_CACHE_HOME"] = before;
    delete process.env["HF_ENDPOINT"];
    server.close();
  }
});
