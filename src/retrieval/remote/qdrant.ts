import { ConfigError } from "../../base/errors.ts";
import { quote, z } from "../../base/schema.ts";
import { keyHeader } from "../../http/api-key.ts";
import { type HttpClient, httpClient } from "../../http/client.ts";
import type { Embed } from "../../http/embeddings.ts";
import { httpShape, serverAddress } from "../../http/http-options.ts";
import { defineRetriever, type Hit } from "../retriever.ts";
import { encoderOption, openQueryEncoder } from "./query-encoder.ts";
import {
  batchedSearch,
  bestFirst,
  remoteFingerprint,
  passageFields,
  type SearchBatch,
  storedHit,
} from "./remote-results.ts";

const NAME = "qdrant";

const options = z
  .strictObject({
    url: serverAddress,
    collection: z.string().min(1),
    /** Name of the vector; absent where the collection has one without a name. */
    using: z.string().min(1).optional(),
    fields: z.strictObject(passageFields).prefault({}),
    /** Makes the query's vector: a model that runs here, or an embeddings server. */
    encoder: encoderOption.optional(),
    /** Makes the query's vector there: a model that the server itself runs (Qdrant's inference). */
    model: z.string().min(1).optional(),
    /** Compares with every vector instead of searching the graph. */
    exact: z.boolean().default(false),
    /** Candidates of the graph search; absent: the collection's own. */
    hnswEf: z.int().min(1).optional(),
    /** Environment variable that holds the API key. */
    apiKeyEnv: z.string().min(1).nullable().default(null),
    /** Queries per request at most. */
    batchSize: z.int().min(1).default(64),
    ...httpShape,
  })
  .refine(({ encoder, model }) => (encoder === undefined) !== (model === undefined), {
    message:
      "set one of `encoder` (a local model, or an embeddings server) and `model` (in Qdrant)",
    path: ["encoder"],
  });

type Settings = z.output<typeof options>;

/** A collection of Qdrant (1.10 or later: the query API). Distances (Euclid, Manhattan) come out negated, so that more is better. */
export const qdrant = defineRetriever({
  name: NAME,
  summary: "A Qdrant collection, by vectors.",
  options,
  async open(settings) {
    const { url, apiKeyEnv } = settings;
    const keyed = keyHeader(apiKeyEnv, `${NAME}.apiKeyEnv`, { header: "api-key", scheme: "" });
    const client = httpClient({ name: NAME, url, settings, ...keyed });
    const collection = await openCollection(client, settings);
    const { encoder: encoding, ...others } = settings;
    const encoder = encoding === undefined ? null : await openQueryEncoder(NAME, encoding);
    const embed = encoder?.embed ?? null;
    const seen = { points: collection.points, encoder: encoder?.identity };
    return {
      fingerprint: remoteFingerprint(NAME, others, seen),
      search: batchedSearch(settings.batchSize, (batch) =>
        searchBatch({ client, settings, embed, collection }, batch),
      ),
      close: async () => encoder?.close(),
    };
  },
});

interface Collection {
  path: string;
  points: number;
  /** Whether the server's scores are distances: less is better. */
  byDistance: boolean;
}

const vectorSchema = z.object({ size: z.number(), distance: z.string() });
const collectionSchema = z.object({
  result: z.object({
    config: z.object({
      params: z.object({
        vectors: z.union([vectorSchema, z.record(z.string(), vectorSchema)]).nullish(),
      }),
    }),
  }),
});

/**
 * What the collection holds. The number of points is counted: the one among its facts is an estimate.
 * @throws {ConfigError} RECIPE_BAD_VALUE when it has no vector of that name.
 */
async function openCollection(client: HttpClient, settings: Settings): Promise<Collection> {
  const path = `/collections/${encodeURIComponent(settings.collection)}`;
  const { value } = await client.json({ path }, collectionSchema);
  const count = await client.json(
    { path: `${path}/points/count`, body: { exact: true }, idempotent: true },
    z.object({ result: z.object({ count: z.number() }) }),
  );
  const vectors = value.result.config.params.vectors ?? {};
  const unnamed = vectorSchema.safeParse(vectors).data;
  const byName = unnamed === undefined ? (vectors as Record<string, { distance: string }>) : {};
  const { using } = settings;
  const vector = using === undefined ? unnamed : byName[using];
  if (vector === undefined) {
    const names = Object.keys(byName);
    const known =
      names.length === 0 ? "its one vector has no name" : `its vectors: ${names.join(", ")}`;
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `${NAME}.using is ${quote(using)}: the collection "${settings.collection}" does not have this vector; ${known}.`,
    );
  }
  const byDistance = /^(Euclid|Manhattan)$/.test(vector.distance);
  return { path, points: count.value.result.count, byDistance };
}

const pointSchema = z.object({
  id: z.union([z.string(), z.number()]),
  score: z.number(),
  payload: z.record(z.string(), z.unknown()).nullish(),
});

async function searchBatch(
  engine: { client: HttpClient; settings: Settings; embed: Embed | null; collection: Collection },
  { queries, k, signal }: SearchBatch,
): Promise<Hit[][]> {
  const { client, settings, embed, collection } = engine;
  const { fields, using, model, exact, hnswEf } = settings;
  const vectors = embed === null ? [] : await embed(queries, signal);
  const searches = queries.map((query, i) => {
    const vector = vectors[i];
    return {
      query: vector === undefined ? { text: query, model } : Array.from(vector),
      using,
      limit: k,
      params: { exact, hnsw_ef: hnswEf },
      with_payload: [fields.id, fields.title, fields.text].filter((field) => field !== null),
    };
  });
  const found = z.object({ points: z.array(pointSchema) });
  const { value } = await client.json(
    { path: `${collection.path}/points/query/batch`, body: { searches }, idempotent: true, signal },
    z.object({ result: z.array(found).length(queries.length) }),
  );
  return value.result.map(({ points }) =>
    bestFirst(
      points.map((point) => hitOf(point, settings, collection)),
      k,
    ),
  );
}

function hitOf(
  point: z.output<typeof pointSchema>,
  { fields }: Settings,
  { byDistance }: Collection,
): Hit {
  const score = byDistance ? -point.score : point.score;
  return storedHit(point.payload ?? {}, fields, { name: NAME, id: String(point.id), score });
}
