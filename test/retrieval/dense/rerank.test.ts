import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { openRetriever } from "../../../src/retrieval/index.ts";
import { openCrossEncoder } from "../../../src/retrieval/combine/rerank.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import { writeTinyCrossEncoder, writeTinyEncoder } from "../../helpers/tiny-encoder.ts";
import "../../helpers/all-parts.ts";

const folder = temporaryFolder();
const passages = [
  { id: "a", title: "Oslo", text: "capital of Norway" },
  { id: "b", title: "Bergen", text: "rain rain in Norway" },
  { id: "c", title: "Lima", text: "capital of Peru" },
];
const model = join(folder, "cross");

beforeAll(async () => {
  await writeTinyCrossEncoder(model, { rain: 2, capital: 0.5, norway: 1, peru: -1 });
});

async function ids(settings: object, query: string, k = 3): Promise<(string | number)[][]> {
  const retriever = await openRetriever({ name: "rerank", model, ...settings }, () => passages);
  const [hits = []] = await retriever.search([query], k);
  await retriever.close();
  return hits.map(({ id, score }) => [id, score]);
}

describe("a cross-encoder", () => {
  it("scores pairs: here the sum of the weights of their words", async () => {
    const encoder = await openCrossEncoder(model);
    const scores = await encoder.score("rain", ["norway", "rain norway unknown", "", "peru"]);
    expect([...scores]).toEqual([3, 5, 2, 1]);
    expect([...(await encoder.score("rain", []))]).toEqual([]);
    await encoder.close();
  });

  it("cuts the longer of query and passage", async () => {
    // [CLS] rain [SEP] three of the passage [SEP]
    const encoder = await openCrossEncoder(model, { maxTokens: 7 });
    const [cut] = await encoder.score("rain", ["norway norway norway rain rain"]);
    expect(cut).toBe(5);
    const [both] = await encoder.score("norway norway norway norway", ["rain rain rain"]);
    expect(both).toBe(2 + 4);
    await encoder.close();
  });

  it("must return one or two labels", async () => {
    const encoder = await writeTinyEncoder(join(folder, "encoder"), ["rain"]);
    await expect(openCrossEncoder(encoder)).rejects.toThrow(
      errorWith("ENCODER_BAD", "returns no logits"),
    );
  });
});

describe("rerank", () => {
  it("orders the first hits of another retriever by the model's score", async () => {
    // The query's "norway" adds 1 to each.
    expect(await ids({ of: { name: "bm25", b: 0, k1: 1 } }, "norway")).toEqual([
      ["b", 6],
      ["a", 2.5],
    ]);
  });

  it("sees no more than `depth` hits", async () => {
    expect(await ids({ of: "bm25", depth: 1 }, "capital norway")).toEqual([["a", 3]]);
  });

  it("has another fingerprint for another model, depth or inner retriever", async () => {
    const other = await writeTinyCrossEncoder(join(folder, "other"), { rain: 1 });
    const prints = new Set<string>();
    for (const settings of [
      { of: "bm25" },
      { of: "bm25", depth: 3 },
      { of: "random" },
      { of: "bm25", model: other },
    ]) {
      const retriever = await openRetriever({ name: "rerank", model, ...settings }, () => passages);
      prints.add(retriever.fingerprint);
      await retriever.close();
    }
    expect(prints.size).toBe(4);
  });
});
