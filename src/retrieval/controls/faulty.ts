import { setMaxListeners } from "node:events";
import { setTimeout } from "node:timers/promises";
import { ExternalError } from "../../base/errors.ts";
import { random } from "../../base/random.ts";
import { choice, z } from "../../base/schema.ts";
import {
  around,
  defineRetriever,
  retrieverSchema,
  type Hit,
  type SearchOptions,
} from "../retriever.ts";

/** Milliseconds, or a range to draw uniformly from. */
type Latency = number | { from: number; to: number };

const milliseconds = z.number().min(0).max(3_600_000);
const range = z
  .strictObject({ from: milliseconds, to: milliseconds })
  .refine(({ from, to }) => from <= to, { message: "expected `to` of at least `from`" });
const latency = choice<Latency>((value) => {
  return { schema: typeof value === "object" && value !== null ? range : milliseconds, value };
});
const rate = z.number().min(0).max(1).default(0);

/**
 * Another retriever with injected faults: delays, errors, empty replies and hangs. Seed, query and the number of earlier
 * searches for the query determine the fault, so a retry can succeed; when several rollouts search for one query
 * at once, timing decides which gets which fault. If one query of a search fails, the search fails.
 *
 * A hang ends when the search is aborted or the retriever is closed.
 */
export const faulty = defineRetriever({
  name: "faulty",
  summary: "Another retriever with delays, errors, empty replies and hangs at given rates.",
  options: z
    .strictObject({
      of: retrieverSchema,
      /** Delay of every reply; `{ from, to }` draws from a range. */
      latencyMs: latency.default(0),
      /** Probabilities; their sum is at most 1. */
      errors: rate,
      empty: rate,
      hangs: rate,
      seed: z.int().min(0).default(0),
    })
    .refine(({ errors, empty, hangs }) => errors + empty + hangs <= 1 + 1e-9, {
      message: "expected errors, empty and hangs to add up to at most 1",
      path: ["errors"],
    }),
  async open({ of, ...settings }, context) {
    const sound = await context.open(of);
    const closing = new AbortController();
    const draw = fates(settings);
    return {
      ...around("faulty", [sound], settings),
      search: async (queries, k, asked = {}) => {
        asked.signal?.throwIfAborted();
        const drawn = queries.map(draw);
        const ending = AbortSignal.any([closing.signal, ...(asked.signal ? [asked.signal] : [])]);
        setMaxListeners(0, ending); // one for each query
        await Promise.all(drawn.map((fate) => suffer(fate, ending)));
        const kept = queries.flatMap((_, i) => (drawn[i]!.kind === "empty" ? [] : [i]));
        const found = await sound.search(
          kept.map((i) => queries[i]!),
          k,
          only(kept, asked),
        );
        const replies = queries.map((): Hit[] => []);
        kept.forEach((i, at) => (replies[i] = found[at]!));
        return replies;
      },
      close: () => {
        closing.abort(fault("was closed during a search that hangs"));
        return sound.close();
      },
    };
  },
});

interface Fate {
  query: string;
  /** Number of earlier searches for it. */
  asked: number;
  kind: "sound" | "error" | "empty" | "hang";
  delayMs: number;
}

interface Rates {
  latencyMs: Latency;
  errors: number;
  empty: number;
  hangs: number;
  seed: number;
}

function fates({ latencyMs, errors, empty, hangs, seed }: Rates): (query: string) => Fate {
  const timesAsked = new Map<string, number>();
  const { from, to } =
    typeof latencyMs === "number" ? { from: latencyMs, to: latencyMs } : latencyMs;
  return (query) => {
    const asked = timesAsked.get(query) ?? 0;
    timesAsked.set(query, asked + 1);
    const stream = random(seed).derive("faulty", query, asked);
    const drawn = stream.next();
    const kind =
      drawn < errors
        ? "error"
        : drawn < errors + empty
          ? "empty"
          : drawn < errors + empty + hangs
            ? "hang"
            : "sound";
    return { query, asked, kind, delayMs: from + (to - from) * stream.next() };
  };
}

/** @throws the reason of `ending`, if it comes first. */
async function suffer({ query, asked, kind, delayMs }: Fate, ending: AbortSignal): Promise<void> {
  if (delayMs > 0)
    await setTimeout(delayMs, undefined, { signal: ending }).catch(() => {
      throw ending.reason;
    });
  ending.throwIfAborted();
  if (kind === "hang")
    await new Promise<never>((_, reject) =>
      ending.addEventListener("abort", () => {
        reject(ending.reason as Error);
      }),
    );
  if (kind === "error")
    throw fault(`failed on purpose for ${JSON.stringify(query)}, asked ${asked} times before`);
}

function fault(what: string): ExternalError {
  return new ExternalError(
    "SEARCH_FAULT",
    `faulty: ${what}. To avoid this, lower the rates of the recipe's faulty retriever, or use another retriever.`,
  );
}

function only(kept: readonly number[], asked: SearchOptions): SearchOptions {
  if (asked.contexts === undefined) return asked;
  return { ...asked, contexts: kept.map((i) => asked.contexts![i]!) };
}
