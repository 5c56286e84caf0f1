import { random } from "../../base/random.ts";
import { z } from "../../base/schema.ts";
import type { Candidate } from "../../trajectory/sample.ts";
import { policyTokenCount, searchCount } from "../../trajectory/trajectory.ts";
import { type StepResources, defineStep, mainTurns, policyText, sortedOut } from "./step.ts";

/** A candidate and its value for comparisons. */
export type ValuedCandidate = { candidate: Candidate; value: number };

/** The candidates with a value (`reward`, or a score), shuffled by the seed: a stable sort then breaks ties by the seed. */
export function valuedCandidates(
  candidates: readonly Candidate[],
  { by, seed, taskId }: { by: string; seed: number; taskId: string },
): ValuedCandidate[] {
  const valued = candidates.flatMap((candidate) => {
    const value = by === "reward" ? candidate.trajectory.reward : (candidate.scores[by] ?? null);
    return value === null ? [] : [{ candidate, value }];
  });
  return random(seed).derive("ties", taskId).shuffle(valued);
}

/** Ranks by reward, then fewest searches, then fewest tokens; the seed breaks ties. */
export const perQuestion = defineStep({
  name: "per-question",
  kind: "filter",
  summary: "Keeps the best few of each question: by reward, then with fewest searches and words.",
  source: "Agent Distillation, arXiv 2505.17612: one trajectory per question; the choice is ours",
  options: z.strictObject({
    /** Most candidates of a question that stay. */
    best: z.int().min(1).default(1),
  }),
  open: ({ best }, resources) => ({
    apply({ task, candidates }) {
      const draw = random(resources.seed).derive("per-question", task.id);
      const ranked = draw
        .shuffle(candidates)
        .map((candidate) => ({ candidate, key: keyOf(candidate, resources) }))
        .sort((a, b) => compare(a.key, b.key));
      const chosen = new Set(ranked.slice(0, best).map(({ candidate }) => candidate));
      return sortedOut(candidates, (each) => (chosen.has(each) ? null : "not among the best"));
    },
  }),
});

function keyOf({ trajectory }: Candidate, { textOf }: StepResources): number[] {
  const { reward } = trajectory;
  const characters = mainTurns(trajectory).reduce(
    (sum, turn) => sum + policyText(trajectory, turn, textOf).length,
    0,
  );
  return [
    reward === null ? Infinity : -reward,
    searchCount(trajectory),
    policyTokenCount(trajectory),
    // For a policy without tokens.
    characters,
  ];
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (const [i, value] of a.entries()) {
    const other = b[i] ?? value;
    if (value !== other) return value < other ? -1 : 1;
  }
  return 0;
}

/** Keeps the draw after which the gold answer is likeliest; the seed breaks ties. After `correct` it chooses among right draws. */
export const likeliest = defineStep({
  name: "likeliest",
  summary: "Keeps the draw of each question after which its answer is likeliest.",
  kind: "filter",
  source:
    "CoRAG, arXiv 2501.14342, section 3.1: of up to 16 chains the one with the highest log P(A | Q, chain)",
  options: z.strictObject({
    /** What compares them: the name of a score, or `reward`. */
    by: z.string().default("answer-likelihood"),
    /** Number of draws of each question that stay. */
    keep: z.int().min(1).default(1),
  }),
  open: ({ by, keep }, { seed }) => ({
    apply({ task, candidates }) {
      const ranked = valuedCandidates(candidates, { by, seed, taskId: task.id })
        .sort((a, b) => b.value - a.value)
        .map(({ candidate }) => candidate);
      const chosen = new Set(ranked.slice(0, keep));
      return sortedOut(candidates, (candidate) => {
        if (chosen.has(candidate)) return null;
        return ranked.includes(candidate) ? "less likely" : `no ${by}`;
      });
    },
  }),
});

/**
 * Weighs each draw of a question by the likelihood of the gold answer after it: w(z) ∝ p(y | x, z), times its own weight; draws without one
 * are dropped. Different here: normalised over the draws of one question, as the paper's formula says; the code samples one draw and
 * multiplies its loss by 4·exp(−c), with c the mean cross-entropy of the answer: `{ scale: plain }`.
 * @example log-likelihoods log 0.3 and log 0.1 → weights 0.75 and 0.25
 */
export const importanceWeights = defineStep({
  name: "importance-weights",
  summary: "Weighs the draws of a question by the likelihood of its answer after each.",
  kind: "weight",
  source: "EXSEARCH, arXiv 2505.20128, equation of the E-step; mangopy/SearchLM, branch v1",
  options: z.strictObject({
    /**
     * normalised: the likelihoods of one question's draws, divided by their sum, so that every question has weight 1. plain: factor ·
     * likelihood of each draw.
     */
    scale: z.enum(["normalised", "plain"]).default("normalised"),
    /**
     * Name of the log-likelihood score, nats. Default for normalised weights: the whole answer's (the paper's p(y | x, z)); for plain
     * weights: its mean per token (as in the code).
     */
    score: z.string().optional(),
    /** Factor of plain weights. */
    factor: z.number().positive().default(4),
  }),
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

function softmax(logs: readonly number[]): number[] {
  const largest = Math.max(...logs);
  const powers = logs.map((log) => Math.exp(log - largest));
  const sum = powers.reduce((all, power) => all + power, 0);
  return powers.map((power) => power / sum);
}
