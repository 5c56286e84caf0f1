import type { PassRate } from "../pass-rates.ts";

/** When a question counts as weak. */
export interface WeaknessRule {
  /** Pass rate that it stays below, in every epoch. */
  below: number;
  /** Whether, over several epochs, it must also have been falling. */
  falling: boolean;
}

/**
 * The questions that a policy is weak at: those whose pass rate stays below the bound in every epoch and, where there are several and
 * the rule says so, whose fitted line over the epochs falls.
 *
 * @param epochs pass rates by question, the earliest first; a question counts in those that have it.
 *
 * Source: SwS, arXiv 2506.08989, section 2.1 (bound 0.5, falling). A question that was never solved does not fall and is not weak by
 * its rule: nothing can be learned from what is out of reach.
 */
export function weakQuestions(
  epochs: readonly (readonly PassRate[])[],
  { below, falling }: WeaknessRule,
): { id: string; question: string }[] {
  const histories = new Map<
    string,
    { question: string; rates: { epoch: number; rate: number }[] }
  >();
  for (const [epoch, rates] of epochs.entries()) {
    for (const { id, question, rate } of rates) {
      const history = histories.get(id) ?? { question, rates: [] };
      histories.set(id, history);
      history.rates.push({ epoch, rate });
    }
  }
  return [...histories].flatMap(([id, { question, rates }]) => {
    if (rates.some(({ rate }) => rate >= below)) return [];
    if (falling && epochs.length > 1 && slopeOf(rates) >= 0) return [];
    return [{ id, question }];
  });
}

/**
 * Least-squares slope of rates over epochs; 0 of a single one.
 * @example slopeOf([{ epoch: 0, rate: 0.4 }, { epoch: 1, rate: 0.2 }]) // -0.2
 */
function slopeOf(points: readonly { epoch: number; rate: number }[]): number {
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const x = mean(points.map(({ epoch }) => epoch));
  const y = mean(points.map(({ rate }) => rate));
  const across = points.reduce((sum, { epoch, rate }) => sum + (epoch - x) * (rate - y), 0);
  const along = points.reduce((sum, { epoch }) => sum + (epoch - x) ** 2, 0);
  return along === 0 ? 0 : across / along;
}

/**
 * Splits a budget in proportion to weights, in whole numbers that sum to it: the largest remainders are rounded up, the first of equal
 * ones.
 * @example shareOut(10, [1, 1, 4]) // [2, 2, 6]: 1.67, 1.67, 6.67 rounded down leave 2, for the first and the second
 */
export function shareOut(budget: number, weights: readonly number[]): number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const exact = weights.map((weight) => (budget * weight) / total);
  const shares = exact.map(Math.floor);
  const left = budget - shares.reduce((sum, share) => sum + share, 0);
  const byRemainder = exact
    // Equal ones are equal but for a rounding.
    .map((value, i) => ({ i, remainder: Math.round((value - Math.floor(value)) * 1e9) }))
    .sort((a, b) => b.remainder - a.remainder || a.i - b.i);
  for (const { i } of byRemainder.slice(0, left)) shares[i] = (shares[i] ?? 0) + 1;
  return shares;
}
