import { beforeEach, describe, expect, it } from "vitest";
import { opensearch } from "../../../src/retrieval/remote/opensearch.ts";
import type { Retriever } from "../../../src/retrieval/retriever.ts";
import { retrieverContract } from "../../contracts/retriever.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { localServer, type Received, sendJson } from "../../helpers/local-server.ts";
import {
  fillIndex,
  OPENSEARCH_INDEX,
  OPENSEARCH_PIPELINE,
  openSearchEngine,
} from "../../helpers/opensearch-engine.ts";
import { embeddingsServer } from "../../helpers/remote-engines.ts";

const passages = [
  { id: "a", title: "Oslo", text: "Oslo is the capital of Norway." },
  { id: "b", title: "Bergen", text: "A city in Norway with much rain." },
  { id: "c", title: "Lima", text: "The capital of Peru." },
];
const engine = await openSearchEngine(passages);
const embeddings = await embeddingsServer();
const encoder = { baseUrl: `${embeddings.url}/v1`, model: "words", apiKeyEnv: null };

/** Opens one; what it needs inside, no surroundings. */
function open(given: object): Promise<Retriever> {
  const context = { open: () => Promise.reject(new Error("nothing inside")) };
  return opensearch.open(
    { url: engine.url, index: OPENSEARCH_INDEX, retries: 0, ...given },
    context,
  );
}
const ids = async (retriever: Retriever, query: string) =>
  (await retriever.search([query], 3))[0]!.map(({ id }) => id);

const modes = {
  bm25: {},
  knn: { mode: "knn", encoder },
  hybrid: { mode: "hybrid", encoder },
  "hybrid by the server": { mode: "hybrid", encoder, searchPipeline: OPENSEARCH_PIPELINE },
};
for (const [name, options] of Object.entries(modes)) {
  retrieverContract(`opensearch, ${name}`, () => open(options));
}

/** A real Elasticsearch, named by whoever has one: its index `agentrl-test` is made anew. */
const elasticsearch = process.env["AGENTRL_TEST_ELASTICSEARCH_URL"];
if (elasticsearch !== undefined) {
  await fillIndex(elasticsearch, passages);
  const given = { url: elasticsearch, dialect: "elasticsearch" };
  retrieverContract("opensearch over Elasticsearch, bm25", () => open(given));

  it("has OpenSearch's scores over Elasticsearch", async () => {
    const queries = ["capital of Norway", "rain"];
    const found = await (await open(given)).search(queries, 3);
    expect(found).toEqual(await (await open({})).search(queries, 3));
  });
}

describe("opensearch", () => {
  it("finds by words with the engine's own scores", async () => {
    const [hits, none] = await (await open({})).search(["capital of Norway", "zebra"], 3);
    expect(hits).toMatchInlineSnapshot(`
      [
        {
          "id": "a",
          "score": 1.3768773,
          "text": "Oslo is the capital of Norway.",
          "title": "Oslo",
        },
        {
          "id": "c",
          "score": 1.0685797,
          "text": "The capital of Peru.",
          "title": "Lima",
        },
        {
          "id": "b",
          "score": 0.42873502,
          "text": "A city in Norway with much rain.",
          "title": "Bergen",
        },
      ]
    `);
    expect(none).toEqual([]);
  });

  it("finds by the nearest vectors", async () => {
    expect(await ids(await open({ mode: "knn", encoder }), "rain rain rain")).toEqual([
      "b",
      "a",
      "c",
    ]);
  });

  it("fuses here as the server's own reciprocal-rank pipeline does", async () => {
    const queries = ["capital of Norway", "Peru", "much rain"];
    const search = async (given: object) =>
      (await (await open({ mode: "hybrid", encoder, ...given })).search(queries, 3)).map((hits) =>
        Object.fromEntries(hits.map(({ id, score }) => [id, Number(score.toFixed(6))])),
      ); // by id: equal scores stand in another order there
    expect(await search({})).toEqual(await search({ searchPipeline: OPENSEARCH_PIPELINE }));
  });

  it("asks all queries of a batch in one request", async () => {
    const retriever = await open({});
    engine.received.length = 0;
    await retriever.search(["capital of Norway", "", "rain"], 2);
    expect(engine.received).toHaveLength(1);
  });

  it("says what the engine says of an index, a vector or a pipeline that it does not have", async () => {
    await expect(open({ index: "nope" })).rejects.toThrow(
      errorWith("HTTP_STATUS", "the name of the index, collection or model"),
    );
    const fields = { vector: "nope" };
    const wrongField = await open({ mode: "knn", encoder, fields });
    await expect(wrongField.search(["Oslo"], 3)).rejects.toThrow(
      errorWith("HTTP_STATUS", "Field 'nope' is not knn_vector type."),
    );
    const wrongPipeline = await open({ mode: "hybrid", encoder, searchPipeline: "nope" });
    await expect(wrongPipeline.search(["Oslo"], 3)).rejects.toThrow(
      errorWith("HTTP_STATUS", "nope"),
    );
  });

  it("names the field in which there is no text", async () => {
    const retriever = await open({ fields: { text: "body" } });
    await expect(retriever.search(["Oslo"], 3)).rejects.toThrow(
      errorWith(
        "RECIPE_BAD_VALUE",
        'opensearch.fields.text is "body": passage "a" has no text in this field',
      ),
    );
  });

  it("has another fingerprint for other results, the same one for another way of asking", async () => {
    const { fingerprint } = await open({});
    expect((await open({ concurrency: 1, timeoutMs: 900 })).fingerprint).toBe(fingerprint);
    expect((await open({ matchType: "most_fields" })).fingerprint).not.toBe(fingerprint);
    expect((await open({ mode: "knn", encoder })).fingerprint).not.toBe(fingerprint);
  });
});

/** What is sent to engines that were not there to record; shapes by their documentation. */
describe("opensearch, as it asks", () => {
  let asked: Received[] = [];
  let failures: unknown[] = [];
  beforeEach(() => {
    asked = [];
    failures = [];
  });
  const sources = { title: "T", text: "t" };
  const hits = { hits: [{ _index: "i", _id: "1", _score: 1, _source: sources }] };

  async function bodiesOf(given: object): Promise<Record<string, unknown>[]> {
    const server = await localServer((request, response) => {
      asked.push(request);
      if (request.url === "/i/_count") sendJson(response, { count: 1 });
      else {
        const count = request.body.trim().split("\n").length / 2;
        const failed = failures.shift();
        const each = failed ?? { hits, status: 200 };
        sendJson(response, { took: 1, responses: Array.from({ length: count }, () => each) });
      }
    });
    const retriever = await open({
      url: server.url,
      index: "i",
      retries: 1,
      retryDelayMs: 0,
      ...given,
    });
    await retriever.search(["rain"], 2);
    const lines = asked.at(-1)!.body.trim().split("\n");
    return lines
      .filter((_, i) => i % 2 === 1)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  it("gives Elasticsearch its vectors beside the query", async () => {
    const given = { dialect: "elasticsearch", mode: "knn", encoder, numCandidates: 50 };
    expect(await bodiesOf(given)).toEqual([
      {
        track_total_hits: false,
        _source: ["title", "text"],
        size: 2,
        knn: {
          field: "vector",
          query_vector: [0, 0, 1, 0, Math.fround(0.1)],
          k: 2,
          num_candidates: 50,
        },
      },
    ]);
  });

  it("lets a model in the engine make the vector, in the engine's words", async () => {
    const [ours] = await bodiesOf({ mode: "knn", modelId: "m" });
    expect(ours?.["query"]).toEqual({
      neural: { vector: { query_text: "rain", model_id: "m", k: 2 } },
    });
    const [theirs] = await bodiesOf({ mode: "knn", modelId: "m", dialect: "elasticsearch" });
    const builder = { text_embedding: { model_id: "m", model_text: "rain" } };
    expect(theirs?.["knn"]).toMatchObject({ query_vector_builder: builder });
  });

  it("takes user name and password, or an API key, from the environment and shows neither", async () => {
    process.env["AGENTRL_TEST_USER"] = "elastic";
    process.env["AGENTRL_TEST_PASSWORD"] = "hunter2";
    await bodiesOf({ usernameEnv: "AGENTRL_TEST_USER", passwordEnv: "AGENTRL_TEST_PASSWORD" });
    expect(asked[0]?.headers.authorization).toBe(`Basic ${btoa("elastic:hunter2")}`);
    process.env["AGENTRL_TEST_API_KEY"] = "key-1";
    await bodiesOf({ apiKeyEnv: "AGENTRL_TEST_API_KEY" });
    expect(asked.at(-1)?.headers.authorization).toBe("ApiKey key-1");
    const error = { reason: `not for ${btoa("elastic:hunter2")} or hunter2` };
    failures = [{ status: 403, error }];
    const guarded = { usernameEnv: "AGENTRL_TEST_USER", passwordEnv: "AGENTRL_TEST_PASSWORD" };
    await expect(bodiesOf(guarded)).rejects.toThrow(
      errorWith("HTTP_STATUS", 'status 403, saying "not for … or …"'),
    );
  });

  it("asks again when the engine was too busy for one of the searches", async () => {
    failures = [{ status: 429, error: { reason: "rejected execution" } }];
    await bodiesOf({});
    expect(asked.map(({ url }) => url)).toEqual(["/i/_count", "/i/_msearch", "/i/_msearch"]);
  });

  it("wants one way to make vectors, and a password with a user name", async () => {
    await expect(open({ mode: "knn" })).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", "vectors need"),
    );
    await expect(open({ usernameEnv: "X" })).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", "user name and password"),
    );
  });
});
