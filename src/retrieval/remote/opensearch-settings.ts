import { z } from "../../base/schema.ts";
import { httpShape, serverAddress } from "../../http/http-options.ts";
import { passageFields } from "./remote-results.ts";
import { encoderOption } from "./query-encoder.ts";

/** Options of the retriever `opensearch`. */
export const opensearchOptions = z
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
export type OpensearchSettings = z.output<typeof opensearchOptions>;
