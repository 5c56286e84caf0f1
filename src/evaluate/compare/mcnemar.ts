import { regularizedBeta } from "../student-t.ts";

/** On how many questions two runs were right. */
export interface Agreement {
  both: number;
  onlyLeft: number;
  onlyRight: number;
  neither: number;
}

/**
 * Counts questions by which of two runs has them right.
 * @param left [n] of 0 and 1; `right` likewise, in the same order.
 * @example agreementOf([1, 1, 0], [1, 0, 0]) // both 1, only left 1, only right 0, neither 1
 */
export function agreementOf(left: readonly number[], right: readonly number[]): Agreement {
  const counts: Agreement = { both: 0, onlyLeft: 0, onlyRight: 0, neither: 0 };
  for (const [i, value] of left.entries()) {
    const other = right[i] === 1;
    if (value === 1) counts[other ? "both" : "onlyLeft"] += 1;
    else counts[other ? "onlyRight" : "neither"] += 1;
  }
  return counts;
}

/**
 * McNemar's test, exact: were each question on which the two disagree a fair coin, the two-sided chance of a split at least
 * this uneven. Questions on which they agree say nothing. 1 where they never disagree.
 *
 * Source: McNemar, Psychometrika 12 (1947); the binomial in place of his χ² approximation, without mid-p.
 *
 * @example mcnemarExact({ onlyLeft: 1, onlyRight: 5 }) // 2 · (C(6, 0) + C(6, 1)) / 2⁶ = 0.21875
 */
export function mcnemarExact({
  onlyLeft,
  onlyRight,
}: Pick<Agreement, "onlyLeft" | "onlyRight">): number {
  const fewer = Math.min(onlyLeft, onlyRight);
  const all = onlyLeft + onlyRight;
  // Of an even split both tails hold the middle.
  if (2 * fewer === all) return 1;
  // The binomial's lower tail, P(X ≤ k) of n fair coins, is I½(n − k, k + 1).
  return Math.min(1, 2 * regularizedBeta(0.5, all - fewer, fewer + 1));
}
