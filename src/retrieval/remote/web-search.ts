import { z } from "../../base/schema.ts";
import { readApiKey } from "../../http/api-key.ts";
import { type HttpClient, httpClient } from "../../http/client.ts";
import { httpShape, serverAddress } from "../../http/http-options.ts";
import { allOrAbort } from "../../http/concurrency.ts";
import { defineRetriever } from "../inner-retrievers.ts";
import type { Hit } from "../retriever.ts";
import { bestFirst, remoteFingerprint } from "./remote-results.ts";
import { type WebEngine, webEngines } from "./web-engines.ts";

const NAME = "web-search";

const domain = z.string().regex(/^[^\s/:]+\.[^\s/:]+$/, "expected a domain, such as example.org");

const options = z
  .strictObject({
    engine: z.enum(["google", "brave", "serper"]),
    /** Another address that serves the same API. */
    endpoint: serverAddress.optional(),
    /** Environment variable that holds the key; absent: the engine's usual one. */
    apiKeyEnv: z.string().min(1).optional(),
    /** Google only: the id of the Programmable Search Engine (`cx`). */
    engineId: z.string().min(1).optional(),
    /** ISO 3166-1, two letters. */
    country: z.string().length(2).toLowerCase().optional(),
    /** ISO 639-1, two letters. */
    language: z.string().length(2).toLowerCase().optional(),
    /** Restricts results to this domain. */
    site: domain.optional(),
    /** Drops pages of these domains and their subdomains, for example those with a benchmark's answers. */
    blocked: z.array(domain).default([]),
    ...httpShape,
  })
  .refine(({ engine, engineId }) => engine !== "google" || engineId !== undefined, {
    message: "google requires the id of your search engine",
    path: ["engineId"],
  });

type Settings = z.output<typeof options>;

/**
 * The web, through a commercial engine: title, snippet and address of each result; the address is the id, the score 1 / place.
 * A query costs as many requests as k needs pages; blocked results may leave fewer than k hits. An empty query sends no
 * request. Results change daily: the fingerprint identifies the engine, not its results; `recorded` stores those.
 */
export const webSearch = defineRetriever({
  name: NAME,
  summary: "The web by a commercial engine (Google, Brave, Serper): titles and snippets.",
  options,
  open(settings) {
    const engine: WebEngine = webEngines[settings.engine];
    const variable = settings.apiKeyEnv ?? engine.keyVariable;
    const key = readApiKey(variable, `${NAME}.apiKeyEnv`);
    const url = settings.endpoint ?? engine.endpoint;
    const client = httpClient({
      name: `${NAME}, ${settings.engine}`,
      url,
      settings,
      keys: { [variable]: key },
    });
    const search = { client, settings, engine, key };
    return {
      fingerprint: remoteFingerprint(NAME, { ...settings, endpoint: url }),
      async search(queries, k, { signal } = {}) {
        signal?.throwIfAborted();
        return allOrAbort(
          queries,
          (query, stop) => webHits(search, { query, k, signal: stop }),
          signal,
        );
      },
    };
  },
});

interface WebSearch {
  client: HttpClient;
  settings: Settings;
  engine: WebEngine;
  key: string;
}

async function webHits(
  { client, settings, engine, key }: WebSearch,
  { query, k, signal }: { query: string; k: number; signal: AbortSignal },
): Promise<Hit[]> {
  const { site, country, language, engineId, blocked } = settings;
  const words = query.trim();
  if (words === "") return [];
  const asked = site === undefined ? words : `${words} site:${site}`;
  const wanted = Math.min(k, engine.maxResults);
  const hits: Hit[] = [];
  for (let offset = 0; offset < wanted; offset += engine.pageSize) {
    const count = Math.min(wanted - offset, engine.pageSize);
    const page = { query: asked, offset, count, country, language, engineId };
    const { parameters = {}, ...asking } = engine.request(page, key);
    const request = { ...asking, parameters: defined(parameters), idempotent: true, signal };
    const { value: results } = await client.json(request, engine.page);
    results.forEach(({ title, url, snippet }, i) => {
      if (isBlocked(url, blocked)) return;
      hits.push({ id: url, title, text: snippet, score: 1 / (offset + i + 1) });
    });
    if (results.length < count) break;
  }
  return bestFirst(hits, k);
}

function isBlocked(url: string, blocked: readonly string[]): boolean {
  if (!URL.canParse(url)) return false;
  const { hostname } = new URL(url);
  return blocked.some((name) => {
    const lower = name.toLowerCase();
    return hostname === lower || hostname.endsWith(`.${lower}`);
  });
}

/** Parameters without those that have no value. */
function defined(parameters: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const entries = Object.entries(parameters);
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
