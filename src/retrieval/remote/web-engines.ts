import { z } from "../../base/schema.ts";
import type { HttpRequest } from "../../http/endpoint.ts";

/** One result of a results page. */
export interface WebResult {
  title: string;
  url: string;
  snippet: string;
}

/** A page to ask for. */
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
export interface WebEngine {
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

/** By name, as recipes have them. */
export const webEngines = { google, brave, serper } as const;
