import { random } from "../base/random.ts";

/** How a file of samples is gone through. */
export interface BatchOptions {
  epochs: number;
  /** An optimiser step's share: so many samples, or as many as make up so many positions, at least one. */
  batch: { size: number; unit: "samples" | "tokens" };
  /** Each epoch in an order of its own, or always as they are (easy to hard, where a selector put them so). */
  order: "shuffled" | "as-is";
  seed: number;
}

/**
 * Which samples each optimiser step learns from: a pure function of the sizes and the seed, so that a resumed run continues exactly.
 * An epoch's last batch holds what is left of it; no batch spans two epochs.
 *
 * @param tokens positions of each sample.
 * @returns of each step the samples' indices.
 * @example sftBatches([5, 5, 2, 9], { epochs: 1, batch: { size: 10, unit: "tokens" }, order: "as-is", seed: 0 }) // [[0, 1], [2], [3]]
 */
export function sftBatches(
  tokens: readonly number[],
  { epochs, batch: { size, unit }, order, seed }: BatchOptions,
): number[][] {
  const indices = tokens.map((_, i) => i);
  const batches: number[][] = [];
  for (let epoch = 0; epoch < epochs; epoch++) {
    const ordered =
      order === "as-is" ? indices : random(seed).derive("samples", epoch).shuffle(indices);
    let current: number[] = [];
    let filled = 0;
    for (const index of ordered) {
      const share = unit === "samples" ? 1 : (tokens[index] ?? 0);
      if (current.length > 0 && filled + share > size) {
        batches.push(current);
        [current, filled] = [[], 0];
      }
      current.push(index);
      filled += share;
    }
    if (current.length > 0) batches.push(current);
  }
  return batches;
}
