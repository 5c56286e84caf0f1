/** Metrics of several draws per question: pass@k and majority vote. */
import { normalizeAnswer } from "../../text/answer-normalizations.ts";
import type { EvaluationRow } from "../evaluation-row.ts";

/**
 * Unbiased estimate of the chance that one of k draws is right, c of n being right: 1 − C(n−c, k) / C(n, k).
 * Source: Chen et al., arXiv 2107.03374, section 2.1; as a product, which does not overflow.
 * @example passAtK(4, 1, 2) // 1 − C(3, 2) / C(4, 2) = 0.5
 */
export function passAtK(n: number, c: number, k: number): number {
  if (n - c < k) return 1;
  let allWrong = 1;
  for (let i = n - c + 1; i <= n; i++) allWrong *= 1 - k / i;
  return 1 - allWrong;
}

/** Powers of two up to the number of draws, and that number itself; empty for one draw. */
export function passCounts(draws: number): number[] {
  const counts: number[] = [];
  for (let k = 1; draws > 1 && k < draws; k *= 2) counts.push(k);
  return draws > 1 ? [...counts, draws] : [];
}

/**
 * The share of first-try failures that k tries solve: Σ pass@k · (1 − pass@1) / Σ (1 − pass@1) over questions; null without a failure.
 * @param questions pass@1 from a greedy run (as in the source) or from the draws; `weight`: number of such questions.
 * Source: Potential@k of arXiv 2505.23433.
 * @example potentialAtK([{ passK: 1, pass1: 0.5 }, { passK: 0, pass1: 0 }]) // (1 · 0.5 + 0 · 1) / (0.5 + 1) = 1/3
 */
export function potentialAtK(
  questions: Iterable<{ passK: number; pass1: number; weight?: number }>,
): number | null {
  let recovered = 0;
  let failed = 0;
  for (const { passK, pass1, weight = 1 } of questions) {
    recovered += weight * passK * (1 - pass1);
    failed += weight * (1 - pass1);
  }
  return failed === 0 ? null : recovered / failed;
}

/**
 * em of the answer that most draws of a question gave, equal after the "squad" normalisation; the earlier one wins a tie, 0 without any.
 * Source: Wang et al., arXiv 2203.11171, section 2, the unweighted vote.
 */
export function majorityRight(draws: readonly Pick<EvaluationRow, "answer" | "em">[]): number {
  const [only] = draws;
  if (draws.length === 1 && only !== undefined) return only.answer === null ? 0 : only.em;
  const votes = new Map<string, { count: number; em: number }>();
  for (const { answer, em } of draws) {
    if (answer === null) continue;
    const text = normalizeAnswer(answer);
    const vote = votes.get(text) ?? { count: 0, em };
    vote.count += 1;
    votes.set(text, vote);
  }
  let best = { count: 0, em: 0 };
  for (const vote of votes.values()) if (vote.count > best.count) best = vote;
  return best.em;
}
