import { coverExactMatch } from "../text/answers.ts";
import { defineReward } from "./reward.ts";

/**
 * 1 if a search of the policy's showed a reference, whatever was answered. A term beside a reward of the answer: alone it pays for
 * searching without end, and a policy that is trained on it stops answering.
 *
 * Source: the retrieval reward of arXiv 2505.15117 (there only where the format is valid and the answer is wrong), and the turn
 * reward of arXiv 2505.11821 (.5 of it). Different here: no condition on format or answer; a weight makes it a term.
 */
export const retrievalHit = defineReward({
  name: "retrieval-hit",
  summary: "1 if a search showed a text that contains a reference after normalisation, else 0.",
  range: [0, 1],
  source: "arXiv 2505.15117, retrieval reward; arXiv 2505.11821, turn reward",
  score: ({ trajectory, task }) => {
    const shown = trajectory.turns.flatMap(({ observations }) =>
      observations.filter(({ tool }) => tool === "search"),
    );
    return Number(shown.some(({ text }) => coverExactMatch(text, task.references) === 1));
  },
});
