import { z } from "../../base/schema.ts";
import { readApiKey } from "../../http/api-key.ts";
import { type HttpClient, httpClient } from "../../http/client.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import type { Embed } from "../../http/embeddings.ts";
import type { HttpReply } from "../../http/exchange.ts";
import { reciprocalRankFusion } from "../combine/fusion.ts";
import { defineRetriever } from "../inner-retrievers.ts";
import type { Hit } from "../retriever.ts";
import { searchBodies } from "./opensearch-query.ts";
import { openQueryEncoder } from "./query-encoder.ts";
import {
  batchedSearch,
  bestFirst,
  remoteFingerprint,
  storedHit,
  type SearchBatch,
} from "./remote-results.ts";
import { opensearchOptions, type OpensearchSettings } from "./opensearch-settings.ts";

const NAME = "opensearch";

/**
 * An index of OpenSearch or Elasticsearch, by words, by vectors or by both. Without a `searchPipeline`, `hybrid` fuses here by
 * reciprocal ranks. Shards that fail are an error, never a shorter list. The fingerprint holds the number of documents,
 * since nothing else that both engines tell changes with the corpus.
 */
export const opensearch = defineRetriever({
  name: NAME,
  summary: "An OpenSearch or Elasticsearch index: BM25, nearest neighbours or both.",
  options: opensearchOptions,
  async open(settings) {
    const client = httpClient(endpointOf(settings));
    const path = `/${encodeURIComponent(settings.index)}`;
    const count = await client.json({ path: `${path}/_count` }, z.object({ count: z.number() }));
    const { encoder: encoding, ...others } = settings;
    const encoder =
      encoding === undefined || settings.mode === "bm25"
        ? null
        : await openQueryEncoder(NAME, encoding);
    const seen = { documents: count.value.count, encoder: encoder?.identity };
    const embed = encoder?.embed ?? null;
    const engine = { client, settings, embed, path: `${path}/_msearch` };
    return {
      fingerprint: remoteFingerprint(NAME, others, seen),
      search: batchedSearch(settings.batchSize, (batch) => searchBatch(engine, batch)),
      close: async () => encoder?.close(),
    };
  },
});

function endpointOf(settings: OpensearchSettings): Endpoint {
  const { url, usernameEnv, passwordEnv, apiKeyEnv } = settings;
  const endpoint = { name: NAME, url, settings };
  if (apiKeyEnv !== null) {
    const key = readApiKey(apiKeyEnv, `${NAME}.apiKeyEnv`);
    return { ...endpoint, headers: { authorization: `ApiKey ${key}` }, keys: { [apiKeyEnv]: key } };
  }
  if (usernameEnv === null || passwordEnv === null) return endpoint;
  const user = readApiKey(usernameEnv, `${NAME}.usernameEnv`);
  const password = readApiKey(passwordEnv, `${NAME}.passwordEnv`);
  const basic = Buffer.from(`${user}:${password}`).toString("base64");
  return {
    ...endpoint,
    headers: { authorization: `Basic ${basic}` },
    keys: { [passwordEnv]: password },
  };
}

interface Engine {
  client: HttpClient;
  settings: OpensearchSettings;
  embed: Embed | null;
  path: string;
}

const hitSchema = z.object({
  _id: z.string(),
  _score: z.number().nullable(),
  _source: z.record(z.string(), z.unknown()).optional(),
});

/** Always the same copy of each shard, because copies may contain deleted documents that change scores. */
const HEADER = JSON.stringify({ preference: "agentrl", allow_partial_search_results: false });

async function searchBatch(
  { client, settings, embed, path }: Engine,
  { queries, k, signal }: SearchBatch,
): Promise<Hit[][]> {
  const vectors = embed === null ? [] : await embed(queries, signal);
  const bodies = queries.map((query, i) =>
    searchBodies(settings, { query, k, vector: vectors[i] }),
  );
  const lines = bodies.flat().flatMap((body) => [HEADER, JSON.stringify(body)]);
  const response = z.object({ hits: z.object({ hits: z.array(hitSchema) }) });
  const { value } = await client.json(
    {
      path,
      headers: { "content-type": "application/x-ndjson" },
      body: `${lines.join("\n")}\n`,
      idempotent: true,
      failureIn: failedSearch,
      signal,
    },
    z.object({ responses: z.array(response).length(bodies.flat().length) }),
  );
  const lists = value.responses.map(({ hits }) => hits.hits.map((hit) => hitOf(hit, settings)));
  let next = 0;
  return bodies.map(({ length }) => {
    const found = lists.slice(next, (next += length));
    const hits = length === 1 ? found[0]! : reciprocalRankFusion(found, { k: settings.rrfK });
    return bestFirst(hits, k);
  });
}

function hitOf(hit: z.output<typeof hitSchema>, { fields }: OpensearchSettings): Hit {
  const { _id: id, _score: score, _source: source = {} } = hit;
  return storedHit(source, fields, { name: NAME, id, score: score ?? 0 });
}

const failedSchema = z.object({
  responses: z.array(
    z.object({
      status: z.number().optional(),
      error: z
        .object({
          reason: z.string().optional(),
          root_cause: z.array(z.object({ reason: z.string().optional() })).optional(),
        })
        .optional(),
    }),
  ),
});

/** `_msearch` returns 200 even for failed searches: this finds the first failure and its status. */
function failedSearch({ text }: HttpReply): { status: number; body: string } | null {
  if (!text.includes('"error"')) return null;
  let reply: unknown;
  try {
    reply = JSON.parse(text) as unknown;
  } catch {
    return null; // the caller's parser reports it
  }
  const failed = failedSchema.safeParse(reply).data?.responses.find(({ error }) => error);
  if (failed?.error === undefined) return null;
  const { reason = "", root_cause: causes = [] } = failed.error;
  return { status: failed.status ?? 500, body: causes[0]?.reason ?? reason };
}
