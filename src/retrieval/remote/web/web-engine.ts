import type { HttpRequest } from "../../../http/endpoint.ts";

/** One result of a results page. */
export interface WebResult {
  title: string;
  url: string;
  snippet: string;
}

/** A page to ask for. */
export interface PageRequest {
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
  /** Results that one request gives at most, and how many there are to be had altogether. */
  readonly pageSize: number;
  readonly maxResults: number;
  request(page: PageRequest, key: string): Pick<HttpRequest, "headers" | "parameters" | "body">;
  /**
   * @param reply parsed JSON.
   * @returns null when it is of another shape.
   */
  results(reply: unknown): WebResult[] | null;
}

/** Keys with values, for parameters and bodies. */
export function present<T>(values: Readonly<Record<string, T | undefined>>): Record<string, T> {
  const kept = Object.entries(values).filter(
    (entry): entry is [string, T] => entry[1] !== undefined,
  );
  return Object.fromEntries(kept);
}
