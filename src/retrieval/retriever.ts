import { type PartSettings, type PartWithOptions, partSchema } from "../base/define-part.ts";
import { registryOf } from "../base/registry.ts";
import { z } from "../base/schema.ts";
import type { Passage, Task } from "../trajectory/task.ts";
import { sha256 } from "../base/files.ts";
import { definer } from "../base/define-part.ts";
import { requireReturned } from "../base/registry.ts";

/** A passage as retrieved. Scores of different retrievers are not comparable. */
export interface Hit extends Passage {
  score: number;
}

/** Progress of a run. */
export interface TrainingProgress {
  /** From 0. */
  step: number;
  /** At least 1. */
  totalSteps: number;
}

/** The task of a search. Only retrievers that declare it in `reads` use it. */
export interface SearchContext {
  task: Task;
  /** Absent outside training. */
  progress?: TrainingProgress;
  /** Seed of this call: another one for each call of each rollout. Absent outside rollouts. */
  seed?: number;
}

/** A part of the search context that affects a retriever's hits; references and supporting passages are gold. */
export type ContextPart = "references" | "supporting-passages" | "progress" | "seed";

/** Options of one search. */
export interface SearchOptions {
  signal?: AbortSignal;
  /** One per query, if the queries come from tasks. */
  contexts?: readonly SearchContext[];
}

/** Ranks passages for queries: BM25, vectors, fusions, remote engines, controls. */
export interface Retriever {
  readonly name: string;
  /** Changes whenever results could change: corpus, analyzer, parameters. Part of every result's protocol fingerprint. */
  readonly fingerprint: string;
  /** Dependencies of the hits besides the query, including inner retrievers. Absent: equal queries have equal hits. */
  readonly reads?: readonly ContextPart[];
  /**
   * @param queries any number; answered in order.
   * @param k hits per query at most.
   * @returns per query, best first; ties by corpus position.
   */
  search(queries: readonly string[], k: number, options?: SearchOptions): Promise<Hit[][]>;
  close(): Promise<void>;
}

/** Whether it reads the task's answers or gold passages: then it is a control, and measurements with it are not results. */
export function readsGold({ reads = [] }: Retriever): boolean {
  return reads.includes("references") || reads.includes("supporting-passages");
}

/** A retriever that a recipe can select. */
export interface RetrieverPart extends PartWithOptions {
  /** Whether it reads the task's answers or gold passages: a control, never a result. Its retriever declares them in `reads`. */
  readonly readsGold: boolean;
  /**
   * @param options checked by the part's own schema; a recipe's are already.
   * @throws what opening it throws: a missing or damaged index, bad options, a server that cannot be reached.
   */
  open(options: object, context: RetrieverContext): Promise<Retriever>;
}

/** A retriever's settings: its name beside its options. */
export type RetrieverSettings = PartSettings<RetrieverPart>;

/**
 * A retriever in a recipe: `bm25`, or `{ name: hybrid, of: [bm25, { name: dense, index: IDX }] }`. Also an option of retrievers that ask
 * others.
 */
export const retrieverSchema: z.ZodType<RetrieverSettings> = z.lazy(() =>
  partSchema(registryOf<RetrieverPart>("retriever")),
);

/** Context for opening retrievers. */
export interface RetrieverContext {
  /** The dataset's passages, streamed anew at each call. Absent without a dataset (`serve`, `index search`). */
  readonly corpus?: () => AsyncIterable<Passage> | Iterable<Passage>;
  /**
   * Opens a retriever inside another one; the outer one closes it.
   * @param corpus the passages to search instead of the dataset's.
   */
  open(settings: RetrieverSettings, corpus?: RetrieverContext["corpus"]): Promise<Retriever>;
}

/**
 * The fingerprint of a retriever made from options and other retrievers: changes with any of them.
 * @param options checked, defaults filled in, keys always in the same order; as JSON.
 */
export function derivedFingerprint(
  name: string,
  options: unknown,
  made: readonly Pick<Retriever, "fingerprint">[],
): string {
  const parts = [options, made.map(({ fingerprint }) => fingerprint)];
  return `${name}-${sha256(JSON.stringify(parts)).slice(0, 16)}`;
}

/** `reads` of a retriever with inner ones: its own and theirs; without any, the key is absent. */
function joinedReads(
  inner: readonly Retriever[],
  own: readonly ContextPart[] = [],
): Pick<Retriever, "reads"> {
  const reads = new Set([...own, ...inner.flatMap((each) => each.reads ?? [])]);
  return reads.size === 0 ? {} : { reads: [...reads].sort() };
}

/** Opens inner retrievers in order; if one fails, closes the earlier ones. */
export async function openAll(
  settings: readonly RetrieverSettings[],
  context: RetrieverContext,
): Promise<Retriever[]> {
  const opened: Retriever[] = [];
  try {
    for (const each of settings) opened.push(await context.open(each));
  } catch (error) {
    await closeAll(opened);
    throw error;
  }
  return opened;
}

/** Closes them all, also after one that fails to; then throws its error. */
async function closeAll(retrievers: readonly Retriever[]): Promise<void> {
  const results = await Promise.allSettled(retrievers.map((each) => each.close()));
  for (const result of results) if (result.status === "rejected") throw result.reason;
}

/** A retriever with inner ones: combines fingerprints and `reads`, and closes them. @param own what it reads itself. */
export function around(
  name: string,
  inner: readonly Retriever[],
  options: unknown,
  own: readonly ContextPart[] = [],
): Pick<Retriever, "fingerprint" | "reads" | "close"> {
  const fingerprint = derivedFingerprint(name, options, inner);
  return { fingerprint, ...joinedReads(inner, own), close: () => closeAll(inner) };
}

/** The result of a part's `open`; the name, and a `close` without effect, may be omitted. */
export type Opened = Omit<Retriever, "name" | "close"> & Partial<Retriever>;

/** Makes a retriever. @throws {ConfigError} PLUGIN_BAD_PART without open. */
export const defineRetriever = definer<RetrieverPart>()("retriever", {
  defaults: { readsGold: false },
  functions: {
    open: {
      at: 0,
      async: true,
      returned(opened: Opened, { what, name }): Retriever {
        requireReturned(what, opened, { search: "function", fingerprint: "text" });
        return { name, close: () => Promise.resolve(), ...opened };
      },
    },
  },
});
