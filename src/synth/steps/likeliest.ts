import { z } from "../../base/schema.ts";
import { valuedCandidates } from "./candidate-value.ts";
import { defineStep, sortedOut } from "./define-step.ts";

const options = z.strictObject({
  /** What they are compared by: a score, or `reward`. */
  by: z.string().default("answer-likelihood"),
  /** Draws of each question that stay. */
  keep: z.int().min(1).default(1),
});

/**
 * Of the draws of a question, keeps that after which the gold answer is likeliest, right or wrong; ties are decided by the seed. Those
 * that stay keep their order. After `correct` it chooses among right ones; before it, a question whose likeliest draw is wrong is lost.
 */
export const likeliest = defineStep({
  name: "likeliest",
  summary: "Keeps the draw of each question after which its answer is likeliest.",
  kind: "filter",
  source:
    "CoRAG, arXiv 2501.14342, section 3.1: of up to 16 chains the one with the highest log P(A | Q, chain)",
  options,
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
