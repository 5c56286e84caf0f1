import { z } from "../../base/schema.ts";
import { keyHeader, readApiKey } from "../../http/api-key.ts";
import { httpClient, type HttpClient } from "../../http/client.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import type { Embed } from "../../http/embeddings.ts";
import type { HttpReply } from "../../http/exchange.ts";
import { reciprocalRankFusion } from "../combine/fusion.ts";
import { defineRetriever, type Hit } from "../retriever.ts";
import { openQueryEncoder, encoderOption } from "./query-encoder.ts";
import {
  batchedSearch,
  bestFirst,
  remoteFingerprint,
  storedHit,
  passageFields,
  type SearchBatch,
} from "./remote-results.ts";
import { httpShape, serverAddress } from "../../http/http-options.ts";

const opensearchOptions = z
  .strictObject({
    url: serverAddress,
    index: z.string().min(1),
    mode: z.enum(["bm25", "knn", "hybrid"]).default("bm25"),
    /** Elasticsearch takes the same words for `bm25` and others for vectors. */
    dialect: z.enum(["opensearch", "elasticsearch"]).default("opensearch"),
    fields: z
      .strictObject({ ...passageFields, vector: z.string().min(1).default("vector") })
      .prefault({}),
    /** Fields that words are looked up in, each with its weight after ^: `title^2`. */
    searchFields: z.array(z.string().min(1)).min(1).default(["title", "text"]),
    /** How the scores of several fields become one; best_fields is the engine's own default. */
    matchType: z.enum(["best_fields", "most_fields", "cross_fields"]).default("best_fields"),
    /** Makes the query's vector: a model that runs here, or an embeddings server. */
    encoder: encoderOption.optional(),
    /** Makes the query's vector there: a model that the engine itself holds. */
    modelId: z.string().min(1).optional(),
    /** Elasticsearch only: candidates per shard of an approximate search. */
    numCandidates: z.int().min(1).max(10_000).default(100),
    /** Hits of each kind that `hybrid` fuses. */
    depth: z.int().min(1).default(100),
    /** k of reciprocal-rank fusion where it is done here. */
    rrfK: z.number().min(0).default(60),
    /** A pipeline on the server that fuses instead (OpenSearch: normalization or score-ranker processor). */
    searchPipeline: z.string().min(1).nullable().default(null),
    /** Environment variables for basic authentication. */
    usernameEnv: z.string().min(1).nullable().default(null),
    passwordEnv: z.string().min(1).nullable().default(null),
    /** Environment variable that holds an Elasticsearch API key. */
    apiKeyEnv: z.string().min(1).nullable().default(null),
    /** Queries per request at most. */
    batchSize: z.int().min(1).default(64),
    ...httpShape,
  })
  .refine(({ mode, encoder, modelId }) => mode === "bm25" || (encoder ?? modelId) !== undefined, {
    message:
      "vectors need `encoder` (a local model, or an embeddings server) or `modelId` (a model in the engine)",
    path: ["mode"],
  })
  .refine(({ encoder, modelId }) => encoder === undefined || modelId === undefined, {
    message: "set only one of `encoder` and `modelId`",
    path: ["modelId"],
  })
  .refine(({ dialect, searchPipeline }) => searchPipeline === null || dialect === "opensearch", {
    message: "only OpenSearch has search pipelines",
    path: ["searchPipeline"],
  })
  .refine(({ usernameEnv, passwordEnv }) => (usernameEnv === null) === (passwordEnv === null), {
    message: "set both user name and password, or neither",
    path: ["passwordEnv"],
  });

/** How to search an index, checked. */
type OpensearchSettings = z.output<typeof opensearchOptions>;

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
  if (apiKeyEnv !== null)
    return { ...endpoint, ...keyHeader(apiKeyEnv, `${NAME}.apiKeyEnv`, { scheme: "ApiKey " }) };
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

type SearchBody = Record<string, unknown>;

/**
 * The bodies that one query needs: one, or with `mode: hybrid` and no pipeline on the server two, words then vectors.
 *
 * @param vector of the query; absent where the server makes it or none is needed.
 */
function searchBodies(
  settings: OpensearchSettings,
  asked: { query: string; k: number; vector: Float32Array | undefined },
): SearchBody[] {
  const { mode, searchPipeline, depth, fields } = settings;
  const body = {
    track_total_hits: false,
    _source: [fields.title, fields.text, fields.id].filter((field) => field !== null),
  };
  const words = (size: number): SearchBody => ({
    ...body,
    size,
    query: wordQuery(settings, asked),
  });
  const vectors = (size: number): SearchBody => ({
    ...body,
    size,
    ...vectorPart(settings, { ...asked, k: size }),
  });
  if (mode === "bm25") return [words(asked.k)];
  if (mode === "knn") return [vectors(asked.k)];
  const size = Math.max(depth, asked.k);
  if (searchPipeline === null) return [words(size), vectors(size)];
  const inner = vectorPart(settings, { ...asked, k: size })["query"];
  return [
    {
      ...body,
      size: asked.k,
      search_pipeline: searchPipeline,
      query: { hybrid: { queries: [wordQuery(settings, asked), inner] } },
    },
  ];
}

function wordQuery(
  { searchFields, matchType }: OpensearchSettings,
  { query }: { query: string },
): SearchBody {
  return { multi_match: { query, fields: searchFields, type: matchType } };
}

/** OpenSearch puts nearest neighbours into the query; Elasticsearch beside it, in other words. */
function vectorPart(
  { dialect, fields, modelId, numCandidates }: OpensearchSettings,
  { query, k, vector }: { query: string; k: number; vector: Float32Array | undefined },
): SearchBody {
  const field = fields.vector;
  if (dialect === "opensearch")
    return vector === undefined
      ? { query: { neural: { [field]: { query_text: query, model_id: modelId, k } } } }
      : { query: { knn: { [field]: { vector: Array.from(vector), k } } } };
  const made =
    vector === undefined
      ? { query_vector_builder: { text_embedding: { model_id: modelId, model_text: query } } }
      : { query_vector: Array.from(vector) };
  return { knn: { field, ...made, k, num_candidates: Math.max(numCandidates, k) } };
}
