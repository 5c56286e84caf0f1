import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildBm25 } from "../../src/retrieval/bm25/bm25.ts";
import { buildIndex } from "../../src/retrieval/bm25/build-index.ts";
import { buildDenseIndex } from "../../src/retrieval/dense/build-dense-index.ts";
import { openEncoder } from "../../src/retrieval/dense/encoder.ts";
import { openRetriever, retrievers } from "../../src/retrieval/index.ts";
import { startRetrievalServer } from "../../src/server/retrieval-server.ts";
import { readsGold } from "../../src/retrieval/retriever.ts";
import { retrieverContract } from "../contracts/retriever.ts";
import { OPENSEARCH_INDEX, openSearchEngine } from "../helpers/opensearch-engine.ts";
import {
  embeddingsServer,
  madeQdrant,
  madeSerper,
  simulatorServer,
} from "../helpers/remote-engines.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { writeTinyCrossEncoder, writeTinyEncoder } from "../helpers/tiny-encoder.ts";
import "../helpers/all-parts.ts";

const folder = temporaryFolder();
const index = join(folder, "idx");
const passages = [
  { id: "a", title: "Oslo", text: "Oslo is the capital of Norway." },
  { id: "b", title: "Bergen", text: "A city in Norway with much rain." },
  { id: "c", title: "Lima", text: "The capital of Peru." },
];

const denseIndex = join(folder, "dense");
const crossEncoder = join(folder, "cross-encoder");

beforeAll(async () => {
  await buildIndex(passages, index);
  const model = await writeTinyEncoder(join(folder, "model"), [
    "oslo",
    "norway",
    "rain",
    "capital",
  ]);
  await buildDenseIndex(passages, denseIndex, { encoder: await openEncoder(model) });
  await writeTinyCrossEncoder(crossEncoder, { rain: 2, norway: 1 });
});

const embeddings = await embeddingsServer();
const encoder = { baseUrl: `${embeddings.url}/v1`, model: "words", apiKeyEnv: null };
const served = await startRetrievalServer(buildBm25(passages), { port: 0 }, { version: "test" });
afterAll(() => served.drain());
process.env["AGENTRL_TEST_SERPER_KEY"] = "key";

/** Options that open each retriever on the corpus above. */
const options: Record<string, object> = {
  bm25: { index },
  dense: { index: denseIndex },
  hybrid: { of: ["bm25", "random"] },
  rerank: { of: "bm25", model: crossEncoder },
  none: {},
  random: {},
  oracle: { of: "bm25" },
  "without-gold": { of: "bm25" },
  subset: { of: "bm25", passages: 2 },
  noisy: { of: "bm25", rate: 0.5, from: "corpus" },
  recorded: { of: "bm25", file: join(folder, "recording.jsonl") },
  faulty: { of: "bm25", latencyMs: 1 },
  "search-r1-server": { url: served.url },
  opensearch: { url: (await openSearchEngine(passages)).url, index: OPENSEARCH_INDEX },
  qdrant: {
    url: (await madeQdrant(passages)).url,
    collection: "passages",
    using: "words",
    encoder,
  },
  "web-search": {
    engine: "serper",
    endpoint: (await madeSerper(passages)).url,
    apiKeyEnv: "AGENTRL_TEST_SERPER_KEY",
  },
  "llm-search": {
    baseUrl: `${(await simulatorServer(passages)).url}/v1`,
    model: "simulator",
    apiKeyEnv: null,
  },
};
const openPart = (name: string) => openRetriever({ name, ...options[name] }, () => passages);

for (const { name, readsGold: says } of retrievers.parts) {
  retrieverContract(name, () => openPart(name));

  it(`${name} says of what it opens whether it reads gold`, async () => {
    const retriever = await openPart(name);
    expect(readsGold(retriever)).toBe(says);
    await retriever.close();
  });
}
retrieverContract("bm25 in memory", () => Promise.resolve(buildBm25(passages)));

describe("retrievers", () => {
  it("names the key that a retriever does not have", async () => {
    await expect(openRetriever({ name: "bm25", indx: index })).rejects.toThrow(
      'Did you mean "index"?',
    );
    await expect(openRetriever({ name: "none", index })).rejects.toThrow("index");
  });

  it("finds nothing by none", async () => {
    const none = await openRetriever({ name: "none" });
    expect(await none.search(["Oslo", "rain"], 3)).toEqual([[], []]);
  });
});
