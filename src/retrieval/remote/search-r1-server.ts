import { sha256 } from "../../base/files.ts";
import { ExternalError } from "../../base/errors.ts";
import { z } from "../../base/schema.ts";
import { keyHeader } from "../../http/api-key.ts";
import { type HttpClient, httpClient } from "../../http/client.ts";
import { httpShape, serverAddress } from "../../http/http-options.ts";
import { defineRetriever, type Hit } from "../retriever.ts";
import { batchedSearch, bestFirst, remoteFingerprint, type SearchBatch } from "./remote-results.ts";

const options = z.strictObject({
  /** With or without `/retrieve` at its end. */
  url: serverAddress,
  /** Environment variable that holds the token of a guarded server (`agentrl serve --token-env`). */
  apiKeyEnv: z.string().min(1).nullable().default(null),
  /** Queries per request at most. */
  batchSize: z.int().min(1).default(64),
  ...httpShape,
});

const documentSchema = z.object({
  id: z.union([z.string(), z.number()]).nullish(),
  contents: z.string(),
  title: z.string().nullish(),
  text: z.string().nullish(),
});
type Document = z.output<typeof documentSchema>;

const itemSchema = z.union([
  z.object({ document: documentSchema, score: z.number().nullish() }),
  documentSchema.transform((document) => ({ document, score: null })),
]);

const FINGERPRINT = "x-index-fingerprint";

/**
 * A client of Search-R1's retrieval server and compatible ones, such as `agentrl serve`. It always requests scores,
 * because the reference server fails without; hits without a score get 1 / rank.
 */
export const searchR1Server = defineRetriever({
  name: "search-r1-server",
  summary: "A server with Search-R1's POST /retrieve, such as `agentrl serve`.",
  options,
  async open(settings) {
    const url = settings.url.replace(/\/retrieve\/?$/, "");
    const keyed = keyHeader(settings.apiKeyEnv, "search-r1-server.apiKeyEnv");
    const client = httpClient({ name: "search-r1-server", url, settings, ...keyed });
    const served = await servedFingerprint(client);
    return {
      fingerprint: served ?? remoteFingerprint("search-r1-server", { url }),
      search: batchedSearch(settings.batchSize, (batch) => retrieve(client, served, batch)),
    };
  },
});

/** The server's index fingerprint; null from the reference server, which has no /health. Fails when the server does not answer. */
async function servedFingerprint(client: HttpClient): Promise<string | null> {
  const { headers } = await client.request({ path: "/health", accepts: [404, 405] });
  return headers.get(FINGERPRINT);
}

async function retrieve(
  client: HttpClient,
  served: string | null,
  { queries, k, signal }: SearchBatch,
): Promise<Hit[][]> {
  const { value, headers } = await client.json(
    {
      path: "/retrieve",
      body: { queries, topk: k, return_scores: true },
      idempotent: true,
      signal,
    },
    z.object({ result: z.array(z.array(itemSchema)).length(queries.length) }),
  );
  const now = headers.get(FINGERPRINT);
  if (served !== null && now !== null && now !== served)
    throw new ExternalError(
      "SERVER_INDEX_CHANGED",
      `search-r1-server: the server's index was ${served} at the start of the run and is now ${now}: the results are not comparable. Serve the old index again, or start a new run.`,
    );
  return value.result.map((items) =>
    bestFirst(
      items.map(({ document, score }, rank) => hitOf(document, score ?? 1 / (rank + 1))),
      k,
    ),
  );
}

/**
 * The title is line 1 of `contents` in double quotes, the text the rest; a server that sends both as keys of their own is
 * believed. Without an id, the hash of `contents` is one.
 */
function hitOf({ id, contents, title, text }: Document, score: number): Hit {
  const key = id == null ? `sha256-${sha256(contents).slice(0, 16)}` : String(id);
  if (typeof title === "string" && typeof text === "string") return { id: key, title, text, score };
  const [, quoted, rest] = /^"(.*)"[ \t\r]*(?:\n([\s\S]*))?$/.exec(contents) ?? [];
  if (quoted === undefined) return { id: key, title: title ?? "", text: contents, score };
  return { id: key, title: quoted, text: rest ?? "", score };
}
