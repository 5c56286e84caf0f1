import type { Passage, Task } from "../trajectory/task.ts";

/** A passage as retrieved. Scores of different retrievers are not comparable. */
export interface Hit extends Passage {
  score: number;
}

/** How far a run has come. */
export interface Progress {
  /** From 0. */
  step: number;
  /** At least 1. */
  totalSteps: number;
}

/** Who asks, and when: looked at by retrievers that say so in `reads`, by no other. */
export interface Asker {
  task: Task;
  /** Absent outside training. */
  progress?: Progress;
}

/** What of an asker a retriever may look at; all but `progress` is gold. */
export type AskerPart = "references" | "supporting-passages" | "progress";

/** What a search is told beyond its queries. */
export interface SearchOptions {
  signal?: AbortSignal;
  /** One per query, where the queries come from tasks. */
  askers?: readonly Asker[];
}

/** Anything that ranks passages for queries: BM25, vectors, fusions, remote engines, controls. */
export interface Retriever {
  readonly name: string;
  /** Changes whenever results could change: corpus, analyzer, parameters. Part of every result's protocol fingerprint. */
  readonly fingerprint: string;
  /** What it, or one inside it, looks at beside the query; absent: nothing, so that equal queries have equal hits. */
  readonly reads?: readonly AskerPart[];
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
