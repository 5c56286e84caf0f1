/** How token vectors become one: their mean, the first one's, or the last one's. */
export const POOLINGS = ["mean", "cls", "last"] as const;
export type Pooling = (typeof POOLINGS)[number];

/** Token vectors of a batch. */
export interface HiddenStates {
  /** [B, T, D] */
  data: Float32Array;
  width: number;
  dimensions: number;
  /** Tokens of each row; what follows is padding. */
  lengths: readonly number[];
}

/** @returns [B, D]; sums in float64. */
export function pool(
  { data, width, dimensions, lengths }: HiddenStates,
  pooling: Pooling,
): Float32Array {
  const vectors = new Float32Array(lengths.length * dimensions);
  const sums = new Float64Array(dimensions);
  lengths.forEach((length, row) => {
    const from = pooling === "last" ? length - 1 : 0;
    const to = pooling === "cls" ? 1 : length;
    sums.fill(0);
    for (let token = from; token < to; token++) {
      const at = (row * width + token) * dimensions;
      for (let d = 0; d < dimensions; d++) sums[d]! += data[at + d]!;
    }
    for (let d = 0; d < dimensions; d++) vectors[row * dimensions + d] = sums[d]! / (to - from);
  });
  return vectors;
}

/** Scales each vector to length 1, in place; one of zeros stays. */
export function normalizeVectors(vectors: Float32Array, dimensions: number): void {
  for (let at = 0; at < vectors.length; at += dimensions) {
    let squares = 0;
    for (let d = 0; d < dimensions; d++) squares += vectors[at + d]! ** 2;
    const length = Math.sqrt(squares);
    if (length === 0) continue;
    for (let d = 0; d < dimensions; d++) vectors[at + d]! /= length;
  }
}
