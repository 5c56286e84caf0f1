import { z } from "../../base/schema.ts";
import { valuedCandidates } from "./candidate-value.ts";
import { defineStep } from "./define-step.ts";

const options = z.strictObject({
  /** What they are compared by: `reward`, or a score. */
  by: z.string().default("reward"),
  /** Smallest difference of a pair; equal draws never make one. */
  leastMargin: z.number().min(0).default(0),
  /** Least value of what is chosen, and the value that what is rejected stays below; absent: any. */
  chosenAtLeast: z.number().optional(),
  rejectedBelow: z.number().optional(),
});

/**
 * Pairs the best draw of a question with its worst; a question whose draws are all equal makes none. Ties are decided by the seed.
 * All draws go on: what they are themselves good for is for other steps to say.
 *
 * Tool-Star's self-critic pairs are those with `{ chosenAtLeast: 1, rejectedBelow: 1 }`.
 */
export const bestWorstPairs = defineStep({
  name: "best-worst-pairs",
  summary: "Pairs the best draw of each question with its worst, for preference training.",
  kind: "pairs",
  source: "Collab-RAG, arXiv 2504.04915, section 4.2; Tool-Star, arXiv 2505.16410",
  options,
  open: (settings, { seed }) => {
    const { by, leastMargin, chosenAtLeast = -Infinity, rejectedBelow = Infinity } = settings;
    return {
      apply({ task, candidates }) {
        const nothing = { kept: candidates, dropped: [] };
        const ranked = valuedCandidates(candidates, { by, seed, taskId: task.id }).sort(
          (a, b) => b.value - a.value,
        );
        const best = ranked[0];
        const worst = ranked.at(-1);
        if (best === undefined || worst === undefined) return nothing;
        const margin = best.value - worst.value;
        const fits = best.value >= chosenAtLeast && worst.value < rejectedBelow;
        if (margin <= 0 || margin < leastMargin || !fits) return nothing;
        const [chosen, rejected] = [best.candidate, worst.candidate];
        const id = `${chosen.id}>${rejected.id}`;
        return { ...nothing, pairs: [{ id, chosen, rejected, margin }] };
      },
    };
  },
});
