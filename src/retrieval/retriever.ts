import type { PartSettings, PartWithOptions } from "../base/part-schema.ts";
import type { z } from "../base/schema.ts";
import type { Passage, Task } from "../trajectory/task.ts";

/** A passage as retrieved. Scores of different retrievers are not comparable. */
export interface Hit extends Passage {
  score: number;
}

/** How far a run has come. */
export interface TrainingProgress {
  /** From 0. */
  step: number;
  /** At least 1. */
  totalSteps: number;
}

/** The task that a search belongs to. Only retrievers that declare it in `reads` use it. */
export interface SearchContext {
  task: Task;
  /** Absent outside training. */
  progress?: TrainingProgress;
}

/** A part of the search context that changes a retriever's hits; all but `progress` reveal gold answers or passages. */
export type ContextPart = "references" | "supporting-passages" | "progress";

/** Options of one search. */
export interface SearchOptions {
  signal?: AbortSignal;
  /** One per query, where the queries come from tasks. */
  contexts?: readonly SearchContext[];
}

/** Anything that ranks passages for queries: BM25, vectors, fusions, remote engines, controls. */
export interface Retriever {
  readonly name: string;
  /** Changes whenever results could change: corpus, analyzer, parameters. Part of every result's protocol fingerprint. */
  readonly fingerprint: string;
  /** What the hits depend on beside the query, inner retrievers included. Absent: equal queries have equal hits. */
  readonly reads?: readonly ContextPart[];
  /**
   * @param queries any number; answered in order.
   * @param k hits per query at most.
   * @returns per query, best first; ties by corpus position.
   */
  search(queries: readonly string[], k: number, options?: SearchOptions): Promise<Hit[][]>;
  close(): Promise<void>;
}

/** Whether it looks at the answers or the gold passages of the task that asks: then it is a control, and what was measured with it no result. */
export function readsGold({ reads = [] }: Retriever): boolean {
  return reads.some((part) => part !== "progress");
}

/** A retriever that a recipe can name. */
export interface RetrieverPart extends PartWithOptions {
  /** Whether it looks at the answers or the gold passages of the task that asks: a control, never a result. Then what it opens says so in `reads`. */
  readonly readsGold: boolean;
  /**
   * @param options checked by the part's own schema; a recipe's are already.
   * @throws what opening it throws: a missing or damaged index, bad options, a server that cannot be reached.
   */
  create(options: unknown, context: RetrieverContext): Promise<Retriever>;
}

/** A retriever's settings: its name beside its options. */
export type RetrieverSettings = PartSettings<RetrieverPart>;

/** What retrievers are made from. */
export interface RetrieverContext {
  /** The corpus at hand, once per call: a dataset's own passages. Absent where there is none (`serve`, `index search`). */
  readonly corpus?: () => AsyncIterable<Passage> | Iterable<Passage>;
  /**
   * Opens a retriever inside another one; the outer one closes it.
   * @param corpus the passages that it is to search instead of those at hand.
   */
  open(settings: RetrieverSettings, corpus?: RetrieverContext["corpus"]): Promise<Retriever>;
}

/**
 * The schema of an option that names a retriever inside another one. A part that has such an option is a function of
 * it: only the list of all parts (index.ts) can make the schema, and parts cannot import the list that they stand in.
 */
export type InnerRetriever = z.ZodType<RetrieverSettings>;
