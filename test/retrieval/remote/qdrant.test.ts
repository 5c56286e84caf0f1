import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openEncoder } from "../../../src/retrieval/dense/encoder.ts";
import { qdrant } from "../../../src/retrieval/remote/qdrant.ts";
import type { Retriever } from "../../../src/retrieval/retriever.ts";
import { retrieverContract } from "../../contracts/retriever.ts";
import { errorWith } from "../../helpers/error-with.ts";
import {
  DIMENSIONS,
  embeddingsServer,
  embedWords,
  madeQdrant,
} from "../../helpers/remote-engines.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import { writeTinyEncoder } from "../../helpers/tiny-encoder.ts";

const folder = temporaryFolder();
const passages = [
  { id: "a", title: "Oslo", text: "Oslo is the capital of Norway." },
  { id: "b", title: "Bergen", text: "A city in Norway with much rain." },
  { id: "c", title: "Lima", text: "The capital of Peru." },
];
const made = await madeQdrant(passages);
const embeddings = await embeddingsServer();
const encoder = { baseUrl: `${embeddings.url}/v1`, model: "words", apiKeyEnv: null };

function open(given: object = {}): Promise<Retriever> {
  const context = { open: () => Promise.reject(new Error("nothing inside")) };
  const defaults = { url: made.url, collection: "passages", using: "words", encoder, retries: 0 };
  return qdrant.open({ ...defaults, ...given }, context);
}
const idsAndScores = async (retriever: Retriever, query: string) =>
  (await retriever.search([query], 3))[0]!.map(({ id, score }) => [
    id,
    Number(score.toFixed(4)) + 0,
  ]);

/** A real server, named by whoever has one; a collection is made on it. */
const real = process.env["AGENTRL_TEST_QDRANT_URL"];
if (real !== undefined) {
  const collection = "agentrl-test";
  const send = async (method: string, path: string, body: object): Promise<void> => {
    const headers = { "content-type": "application/json" };
    const url = `${real}/collections/${collection}${path}`;
    const { ok, status } = await fetch(url, { method, headers, body: JSON.stringify(body) });
    if (!ok && method !== "DELETE") throw new Error(`${method} ${path}: status ${status}`);
  };
  await send("DELETE", "", {});
  await send("PUT", "", { vectors: { words: { size: DIMENSIONS, distance: "Dot" } } });
  const points = passages.map(({ id, title, text }, i) => ({
    id: i + 1,
    vector: { words: embedWords(`${title} ${text}`) },
    payload: { id, title, text },
  }));
  await send("PUT", "/points?wait=true", { points });
  retrieverContract("qdrant, a real server", () => open({ url: real, collection }));
}
retrieverContract("qdrant, a made server", () => open());

describe("qdrant", () => {
  it("finds by vectors made here, all queries of a batch in one request", async () => {
    const retriever = await open({ exact: true, hnswEf: 64 });
    made.received.length = 0;
    const [first, second] = await retriever.search(["capital", "rain"], 2);
    expect(first!.map(({ id, title }) => [id, title])).toEqual([
      ["1", "Oslo"],
      ["3", "Lima"],
    ]);
    expect(second!.map(({ text }) => text)).toEqual([passages[1]!.text, passages[0]!.text]);
    expect(made.received.map(({ url }) => url)).toEqual([
      "/collections/passages/points/query/batch",
    ]);
    const { searches } = JSON.parse(made.received[0]!.body) as { searches: unknown[] };
    expect(searches[0]).toEqual({
      query: [1, 0, 0, 0, Math.fround(0.1)],
      using: "words",
      limit: 2,
      params: { exact: true, hnsw_ef: 64 },
      with_payload: ["title", "text"],
    });
  });

  it("lets the server's own model make the vector, and takes an id from the payload", async () => {
    const given = { encoder: undefined, model: "toy", fields: { id: "id", title: null } };
    const [hits] = await (await open(given)).search(["peru"], 1);
    expect(hits).toMatchObject([{ id: "c", title: "", text: "The capital of Peru." }]);
  });

  it("ranks the smallest distance first, with more for nearer", async () => {
    const far = await madeQdrant(passages, "Euclid");
    const retriever = await open({ url: far.url });
    expect(await idsAndScores(retriever, "norway rain")).toEqual([
      ["2", 0],
      ["1", -1.4142],
      ["3", -2],
    ]);
  });

  it("names the vectors that there are", async () => {
    await expect(open({ using: "sense" })).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", 'qdrant.using is "sense"'),
    );
    await expect(open({ using: undefined })).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", "its vectors: words."),
    );
  });

  it("says that the collection is not there, in the server's words", async () => {
    await expect(open({ collection: "nope" })).rejects.toThrow(
      errorWith("HTTP_STATUS", "Collection `nope` doesn't exist!"),
    );
  });

  it("wants one way to make the vector", async () => {
    const message = "set one of `encoder`";
    await expect(open({ encoder: undefined })).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", message),
    );
    await expect(open({ model: "toy" })).rejects.toThrow(errorWith("RECIPE_BAD_VALUE", message));
  });

  it("sends its key and no part of it to the fingerprint", async () => {
    process.env["AGENTRL_TEST_QDRANT_KEY"] = "secret";
    const keyed = await open({ apiKeyEnv: "AGENTRL_TEST_QDRANT_KEY" });
    expect(made.received.at(-1)?.headers["api-key"]).toBe("secret");
    expect(keyed.fingerprint).toBe((await open()).fingerprint);
  });

  it("takes vectors of a model that runs here, known by its files and not by its folder", async () => {
    const words = ["capital", "norway", "rain", "peru"];
    const folders = ["one", "two"].map((name) => join(folder, name));
    for (const each of folders) await writeTinyEncoder(each, words, { dimensions: DIMENSIONS });
    const [one, two] = await Promise.all(
      folders.map((model) => open({ encoder: { model, queryPrefix: "rain " } })),
    );
    made.received.length = 0;
    await one!.search(["peru"], 1);
    const { searches } = JSON.parse(made.received[0]!.body) as { searches: { query: number[] }[] };
    const encoder = await openEncoder(folders[0]!);
    expect(searches[0]!.query).toEqual(Array.from(await encoder.encodeQueries(["rain peru"])));
    expect(one!.fingerprint).toBe(two!.fingerprint);
    expect(one!.fingerprint).not.toBe((await open()).fingerprint);
    await Promise.all([one!.close(), two!.close(), encoder.close()]);
  });

  it("names what an encoder lacks", async () => {
    await expect(open({ encoder: { pooling: "mean" } })).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", "qdrant.encoder.model is missing"),
    );
    await expect(open({ encoder: { ...encoder, pooling: "mean" } })).rejects.toThrow(
      errorWith("RECIPE_UNKNOWN_KEY", "qdrant.encoder.pooling is not a key here"),
    );
  });

  it("puts the prefix of the encoder's model before each query", async () => {
    embeddings.received.length = 0;
    await (await open({ encoder: { ...encoder, queryPrefix: "query: " } })).search(["rain"], 1);
    expect(JSON.parse(embeddings.received[0]!.body)).toEqual({
      model: "words",
      input: ["query: rain"],
      encoding_format: "float",
    });
  });
});
