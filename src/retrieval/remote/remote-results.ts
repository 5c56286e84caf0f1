import { ConfigError } from "../../base/errors.ts";
import { httpShape } from "../../http/http-options.ts";
import { derivedFingerprint } from "../inner-retrievers.ts";
import type { Hit } from "../retriever.ts";

/**
 * The fingerprint of a remote engine: its options less how it is asked (times, concurrency) and where keys come from.
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

/** What the contract of a retriever asks of hits, whatever a server sent: best first, each passage once, at most k. */
export function bestFirst(hits: readonly Hit[], k: number): Hit[] {
  const seen = new Set<string>();
  const once = hits.filter(({ id }) => !seen.has(id) && seen.add(id));
  return once.sort((a, b) => b.score - a.score).slice(0, k);
}

/** Items in runs of at most `size`. */
export function batchesOf<T>(items: readonly T[], size: number): T[][] {
  const batches: T[][] = [];
  for (let start = 0; start < items.length; start += size) {
    batches.push(items.slice(start, start + size));
  }
  return batches;
}

/**
 * The text that a stored document has under a field; a dot leads into an object.
 *
 * @param option that names the field, and the passage, for the message.
 * @throws {ConfigError} RECIPE_BAD_VALUE when there is none: nothing would be shown for the passage, without a word.
 */
export function storedText(
  document: Readonly<Record<string, unknown>>,
  field: string,
  { option, passage }: { option: string; passage: string },
): string {
  let value: unknown = document[field];
  if (value === undefined) {
    value = document;
    for (const key of field.split(".")) {
      value =
        typeof value === "object" && value !== null
          ? (value as Record<string, unknown>)[key]
          : undefined;
    }
  }
  if (typeof value === "string") return value;
  if (typeof value === "number") return String(value);
  throw new ConfigError(
    "RECIPE_BAD_VALUE",
    `${option} is "${field}": passage "${passage}" has no text there. Name the field that holds it.`,
  );
}
