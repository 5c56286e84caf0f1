import type { Passage, Task } from "../trajectory/task.ts";

/** A passage as retrieved. Scores of different retrievers are not comparable. */
export interface Hit extends Passage {
  score: number;
}

/** Who asks, and when: looked at by retrievers that read gold or change over a run, by no other. */
export interface Asker {
  task: Task;
  /** Step of the run, from 0, and how many it has; absent outside training. */
  progress?: { step: number; totalSteps: number };
}

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
  /**
   * @param queries any number; answered in order.
   * @param k hits per query at most.
   * @returns per query, best first; ties by corpus position.
   */
  search(queries: readonly string[], k: number, options?: SearchOptions): Promise<Hit[][]>;
  close(): Promise<void>;
}
