import type { Scored } from "../top-k.ts";

/** Search among stored vectors by inner product, exact or not. */
export interface VectorSearch {
  /** How the hits are found, for people and fingerprints: `flat`, `hnsw …`. */
  readonly kind: string;
  /**
   * @param queries [q, D].
   * @param k hits per query at most.
   * @returns per query, best first; ties by position.
   */
  search(queries: Float32Array, k: number, signal?: AbortSignal): Promise<Scored[][]>;
  close(): Promise<void>;
}
