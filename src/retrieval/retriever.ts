import type { Passage } from "../trajectory/task.ts";

/** A passage as retrieved. Scores of different retrievers are not comparable. */
export interface Hit extends Passage {
  score: number;
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
  search(
    queries: readonly string[],
    k: number,
    options?: { signal?: AbortSignal },
  ): Promise<Hit[][]>;
  close(): Promise<void>;
}
