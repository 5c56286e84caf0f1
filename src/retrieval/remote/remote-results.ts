import { ConfigError } from "../../base/errors.ts";
import { z } from "../../base/schema.ts";
import { allOrAbort } from "../../http/concurrency.ts";
import { httpShape } from "../../http/http-options.ts";
import { derivedFingerprint, type Hit, type Retriever } from "../retriever.ts";

/**
 * The fingerprint of a remote engine: its options without timeouts, concurrency and key sources.
 *
 * @param options checked, defaults filled in; its addresses hold nothing secret (`serverAddress`).
 * @param seen what the server says of itself, where it does: a number of passages, an encoder's fingerprint.
 */
export function remoteFingerprint(name: string, options: object, seen: object = {}): string {
  return derivedFingerprint(name, [lasting(options), lasting(seen)], []);
}

/** Options that can change results, nested ones too. */
function lasting(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const kept = Object.entries(value).filter(
    ([key, each]) => each !== undefined && !(key in httpShape) && !key.endsWith("Env"),
  );
  return Object.fromEntries(kept.map(([key, each]) => [key, lasting(each)]));
}

/** Enforces the retriever contract on a server's hits: best first, each passage once, at most k. */
export function bestFirst(hits: readonly Hit[], k: number): Hit[] {
  const seen = new Set<string>();
  const once = hits.filter(({ id }) => !seen.has(id) && seen.add(id));
  return once.sort((a, b) => b.score - a.score).slice(0, k);
}

export interface SearchBatch {
  queries: string[];
  k: number;
  signal: AbortSignal;
}

/** A search that sends queries in batches of at most `size`, all batches at once. */
export function batchedSearch(
  size: number,
  ask: (batch: SearchBatch) => Promise<Hit[][]>,
): Retriever["search"] {
  return async (queries, k, { signal } = {}) => {
    signal?.throwIfAborted();
    if (k < 1) return queries.map(() => []);
    const starts = Array.from({ length: Math.ceil(queries.length / size) }, (_, i) => i * size);
    const askFrom = (start: number, stop: AbortSignal): Promise<Hit[][]> =>
      ask({ queries: queries.slice(start, start + size), k, signal: stop });
    return (await allOrAbort(starts, askFrom, signal)).flat();
  };
}

/** Fields of a stored document that make a passage. */
export const passageFields = {
  /** Null: the engine's own id. */
  id: z.string().min(1).nullable().default(null),
  /** Null: passages have no titles. */
  title: z.string().min(1).nullable().default("title"),
  text: z.string().min(1).default("text"),
};

/**
 * A hit from a stored document.
 * @param found the engine's own id, its score, and the retriever's name for messages.
 * @throws {ConfigError} RECIPE_BAD_VALUE when the document lacks a field.
 */
export function storedHit(
  document: Readonly<Record<string, unknown>>,
  fields: z.output<z.ZodObject<typeof passageFields>>,
  { name, id, score }: { name: string; id: string; score: number },
): Hit {
  const read = (key: keyof typeof passageFields, field: string): string =>
    storedText(document, field, { option: `${name}.fields.${key}`, passage: id });
  return {
    id: fields.id === null ? id : read("id", fields.id),
    title: fields.title === null ? "" : read("title", fields.title),
    text: read("text", fields.text),
    score,
  };
}

/**
 * The text of a field in a stored document; a dot enters an object.
 *
 * @param option with the field's name, and the passage, for the message.
 * @throws {ConfigError} RECIPE_BAD_VALUE when there is no text: the passage would silently be empty.
 */
function storedText(
  document: Readonly<Record<string, unknown>>,
  field: string,
  { option, passage }: { option: string; passage: string },
): string {
  let value: unknown = document[field];
  if (value === undefined) {
    value = document;
    for (const key of field.split("."))
      value =
        typeof value === "object" && value !== null
          ? (value as Record<string, unknown>)[key]
          : undefined;
  }
  if (typeof value === "string") return value;
  if (typeof value === "number") return String(value);
  throw new ConfigError(
    "RECIPE_BAD_VALUE",
    `${option} is "${field}": passage "${passage}" has no text in this field. Set the field with the text.`,
  );
}
