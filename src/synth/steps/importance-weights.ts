import { z } from "../../base/schema.ts";
import { defineStep, sortedOut } from "./define-step.ts";

const options = z.strictObject({
  /**
   * normalised: the likelihoods of one question's draws, divided by their sum, so that every question weighs 1. plain: factor ·
   * likelihood, each by itself.
   */
  scale: z.enum(["normalised", "plain"]).default("normalised"),
  /**
   * Score that is the log-likelihood, nats: by default that of the whole answer where weights are normalised (p(y | x, z) as the paper
   * writes it), its mean a token where they are plain (the code's).
   */
  score: z.string().optional(),
  /** Of plain weights. */
  factor: z.number().positive().default(4),
});

/**
 * Weighs each draw of a question by how likely the gold answer is after it: w(z) ∝ p(y | x, z). A weight that a sample already has is
 * multiplied. Draws whose likelihood is not known are dropped.
 *
 * Different here: normalised over the draws of one question, as the paper's formula says; the code draws one and multiplies its loss
 * by 4·exp(−c), c the mean cross-entropy of the answer, which is `{ scale: plain }`. (The code's other branch means a softmax and
 * leaves weights in the opposite order; that is not offered.)
 *
 * @example log-likelihoods log 0.3 and log 0.1 → weights 0.75 and 0.25
 */
export const importanceWeights = defineStep({
  name: "importance-weights",
  summary: "Weighs the draws of a question by the likelihood of its answer after each.",
  kind: "weight",
  source: "EXSEARCH, arXiv 2505.20128, equation of the E-step; mangopy/SearchLM, branch v1",
  options,
  open: ({ scale, factor, score: named }) => {
    const score = named ?? (scale === "normalised" ? "answer-likelihood-sum" : "answer-likelihood");
    return {
      apply({ candidates }) {
        const { kept, dropped } = sortedOut(candidates, ({ scores }) =>
          scores[score] === undefined ? `no ${score}` : null,
        );
        const logs = kept.map(({ scores }) => scores[score] ?? -Infinity);
        const shares =
          scale === "normalised" ? softmax(logs) : logs.map((log) => factor * Math.exp(log));
        const weighed = kept.map((candidate, i) => ({
          ...candidate,
          weight: candidate.weight * (shares[i] ?? 0),
        }));
        return { kept: weighed, dropped };
      },
    };
  },
});

/** exp of each over the sum of all, the largest taken off first so that none overflows. */
function softmax(logs: readonly number[]): number[] {
  const largest = Math.max(...logs);
  const powers = logs.map((log) => Math.exp(log - largest));
  const sum = powers.reduce((all, power) => all + power, 0);
  return powers.map((power) => power / sum);
}
