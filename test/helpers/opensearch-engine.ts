import { readFileSync, writeFileSync } from "node:fs";
import { afterAll } from "vitest";
import type { Passage } from "../../src/trajectory/task.ts";
import { type LocalServer, localServer } from "./local-server.ts";
import { DIMENSIONS, embedWords } from "./remote-engines.ts";

interface Exchange {
  method: string;
  url: string;
  body: string;
  status: number;
  reply: unknown;
}

interface Recording {
  comment: string;
  server: unknown;
  /** [id, title, text] of what was indexed. */
  passages: [string, string, string][];
  exchanges: Exchange[];
}

const file = new URL("../golden/opensearch-exchanges.json", import.meta.url);
/** A real server, named by whoever has one: a fresh index `agentrl-test` and a search pipeline are made on it. */
const real = process.env["AGENTRL_TEST_OPENSEARCH_URL"];
/** Also writes the recording anew. */
const record = process.env["AGENTRL_TEST_RECORD"] === "1";

export const OPENSEARCH_INDEX = "agentrl-test";
export const OPENSEARCH_PIPELINE = "agentrl-test-rrf";

/**
 * An OpenSearch that holds the passages: the real one behind a proxy where the environment names one, else the exchanges
 * recorded with it. A request that was not recorded is answered 500, saying so.
 */
export async function openSearchEngine(passages: readonly Passage[]): Promise<LocalServer> {
  if (real !== undefined) return proxyTo(real, passages);
  const { exchanges } = JSON.parse(readFileSync(file, "utf8")) as Recording;
  const byRequest = new Map(exchanges.map((each) => [keyOf(each), each]));
  return localServer((request, response) => {
    const found = byRequest.get(keyOf(request));
    response.writeHead(found?.status ?? 500, { "content-type": "application/json" });
    response.end(found === undefined ? "not recorded" : JSON.stringify(found.reply));
  });
}

async function proxyTo(url: string, passages: readonly Passage[]): Promise<LocalServer> {
  await fill(url, passages);
  const exchanges = new Map<string, Exchange>();
  if (record) afterAll(() => writeRecording(url, passages, [...exchanges.values()]));
  return localServer((request, response) => {
    void (async () => {
      const { method, url: path, headers, body } = request;
      const type = headers["content-type"];
      const answered = await fetch(url + path, {
        method,
        headers: type === undefined ? {} : { "content-type": type },
        body: body === "" ? undefined : body,
      });
      const text = await answered.text();
      const { status } = answered;
      const exchange = { method, url: path, body, status, reply: JSON.parse(text) as unknown };
      exchanges.set(keyOf(exchange), exchange);
      response.writeHead(status, { "content-type": "application/json" }).end(text);
    })();
  });
}

function keyOf({ method, url, body }: { method: string; url: string; body: string }): string {
  return JSON.stringify([method, url, body]);
}

async function fill(url: string, passages: readonly Passage[]): Promise<void> {
  const vector = {
    type: "knn_vector",
    dimension: DIMENSIONS,
    method: { name: "hnsw", engine: "lucene", space_type: "innerproduct" },
  };
  const documents = passages.map((passage) => {
    const { id, title, text } = passage;
    return { id, title, text, vector: embedWords(`${title} ${text}`) };
  });
  await fillIndex(url, documents, { settings: { "index.knn": true }, properties: { vector } });
  const combination = { technique: "rrf", rank_constant: 60 };
  const processors = [{ "score-ranker-processor": { combination } }];
  const pipeline = JSON.stringify({ phase_results_processors: processors });
  await send("PUT", `${url}/_search/pipeline/${OPENSEARCH_PIPELINE}`, pipeline);
}

/** Makes the index anew on a real OpenSearch or Elasticsearch: one shard, the engine's own analysis. */
export async function fillIndex(
  url: string,
  documents: readonly ({ id: string } & Record<string, unknown>)[],
  { settings = {}, properties = {} }: { settings?: object; properties?: object } = {},
): Promise<void> {
  const index = {
    settings: { number_of_shards: 1, number_of_replicas: 0, ...settings },
    mappings: { properties: { title: { type: "text" }, text: { type: "text" }, ...properties } },
  };
  await send("DELETE", `${url}/${OPENSEARCH_INDEX}`, "");
  await send("PUT", `${url}/${OPENSEARCH_INDEX}`, JSON.stringify(index));
  const lines = documents.flatMap(({ id, ...source }) => [{ index: { _id: id } }, source]);
  const bulk = `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`;
  await send("POST", `${url}/${OPENSEARCH_INDEX}/_bulk?refresh=true`, bulk);
}

async function send(method: string, url: string, body: string): Promise<void> {
  const headers = { "content-type": "application/json" };
  const { ok, status } = await fetch(url, { method, headers, body });
  if (!ok && method !== "DELETE") throw new Error(`${method} ${url}: status ${status}`);
}

async function writeRecording(
  url: string,
  passages: readonly Passage[],
  exchanges: Exchange[],
): Promise<void> {
  const { version } = (await (await fetch(url)).json()) as { version: unknown };
  const recording: Recording = {
    comment:
      "Recorded by AGENTRL_TEST_OPENSEARCH_URL=http://… AGENTRL_TEST_RECORD=1 npx vitest run test/retrieval/remote/opensearch.test.ts: OpenSearch with its k-NN and neural-search plugins, vectors by test/helpers/remote-engines.ts.",
    server: version,
    passages: passages.map(({ id, title, text }) => [id, title, text]),
    exchanges: exchanges.sort((a, b) => keyOf(a).localeCompare(keyOf(b))),
  };
  writeFileSync(file, `${JSON.stringify(recording, null, 1)}\n`);
}
