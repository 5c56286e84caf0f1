import { z } from "../../base/schema.ts";
import { readApiKey } from "../../http/api-key.ts";
import { httpClient, type HttpClient } from "../../http/client.ts";
import { httpShape, serverAddress } from "../../http/http-options.ts";
import { allOrAbort } from "../../http/concurrency.ts";
import { defineRetriever, type Hit } from "../retriever.ts";
import { bestFirst, remoteFingerprint } from "./remote-results.ts";
import type { HttpRequest } from "../../http/endpoint.ts";

interface WebResult {
  title: string;
  url: string;
  snippet: string;
}

interface PageRequest {
  query: string;
  /** Results of earlier pages. */
  offset: number;
  /** Results wanted, at most the engine's `pageSize`. */
  count: number;
  /** Two letters (ISO 3166-1), lower case. */
  country: string | undefined;
  /** Two letters (ISO 639-1), lower case. */
  language: string | undefined;
  /** Google's engine id. */
  engineId: string | undefined;
}

/** A commercial search engine: how to ask it for a page, and what a page of its replies holds. */
interface WebEngine {
  readonly endpoint: string;
  /** Environment variable of its key, where the recipe names none. */
  readonly keyVariable: string;
  /** Results of one request at most, and of all requests together. */
  readonly pageSize: number;
  readonly maxResults: number;
  request(
    page: PageRequest,
    key: string,
  ): Pick<HttpRequest, "headers" | "body"> & { parameters?: Record<string, string | undefined> };
  /** A reply, parsed as JSON. */
  readonly page: z.ZodType<WebResult[]>;
}

/** Google's and Serper's way to write a result. */
const linked = z
  .object({ title: z.string(), link: z.string(), snippet: z.string().default("") })
  .transform(({ title, link, snippet }) => ({ title, url: link, snippet }));

/** Brave's way. */
const described = z
  .object({ title: z.string(), url: z.string(), description: z.string().default("") })
  .transform(({ title, url, description }) => ({ title, url, snippet: description }));

/**
 * Google's Custom Search JSON API. As documented in 2026: closed to new customers, ends for all on 1 January 2027; ten
 * results a request, the first hundred at most.
 */
const google: WebEngine = {
  endpoint: "https://www.googleapis.com/customsearch/v1",
  keyVariable: "GOOGLE_API_KEY",
  pageSize: 10,
  maxResults: 100,
  request: ({ query, offset, count, country, language, engineId }, key) => ({
    parameters: {
      key,
      cx: engineId,
      q: query,
      num: String(count),
      start: String(offset + 1),
      gl: country,
      lr: language && `lang_${language}`,
    },
  }),
  page: z
    .object({ kind: z.literal("customsearch#search"), items: z.array(linked).default([]) })
    .transform(({ items }) => items),
};

/**
 * Brave's Web Search API. As documented in 2026: twenty results a request, ten pages at most, a query of up to 400 characters
 * and 50 words. Its offset counts pages, so every page is asked for whole.
 */
const brave: WebEngine = {
  endpoint: "https://api.search.brave.com/res/v1/web/search",
  keyVariable: "BRAVE_API_KEY",
  pageSize: 20,
  maxResults: 200,
  request: ({ query, offset, count, country, language }, key) => ({
    headers: { "x-subscription-token": key },
    parameters: {
      q: query,
      count: String(offset === 0 ? count : brave.pageSize),
      offset: String(Math.floor(offset / brave.pageSize)),
      text_decorations: "false", // no <strong> around the words found
      result_filter: "web",
      country: country?.toUpperCase(),
      search_lang: language,
    },
  }),
  page: z
    .object({
      type: z.literal("search"),
      web: z.object({ results: z.array(described) }).optional(), // absent when nothing was found
    })
    .transform(({ web }) => web?.results ?? []),
};

/** Serper (serper.dev): Google's results page as JSON, by pages of ten. Only the organic results are taken. */
const serper: WebEngine = {
  endpoint: "https://google.serper.dev/search",
  keyVariable: "SERPER_API_KEY",
  pageSize: 10,
  maxResults: 100,
  request: ({ query, offset, country, language }, key) => ({
    headers: { "x-api-key": key },
    body: {
      q: query,
      page: offset / serper.pageSize + 1,
      num: serper.pageSize,
      gl: country,
      hl: language,
    },
  }),
  page: z.object({ organic: z.array(linked) }).transform(({ organic }) => organic),
};

const webEngines = { google, brave, serper } as const;

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

function defined(parameters: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const entries = Object.entries(parameters);
  return Object.fromEntries(
    entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
