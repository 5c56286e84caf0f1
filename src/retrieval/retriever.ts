import { type PartSettings, type PartWithOptions, partSchema } from "../base/define-part.ts";
import { registryOf } from "../base/registry.ts";
import { z } from "../base/schema.ts";
import type { Passage, Task } from "../trajectory/task.ts";

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
