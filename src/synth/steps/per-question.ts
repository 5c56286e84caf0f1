import { random } from "../../base/random.ts";
import { z } from "../../base/schema.ts";
import { searchCount } from "../../trajectory/search-count.ts";
import { policyTokenCount } from "../../trajectory/token-rows.ts";
import type { Candidate } from "../../trajectory/sample.ts";
import { defineStep, sortedOut } from "./define-step.ts";
import { mainTurns, policyText } from "./main-line.ts";
import type { StepResources } from "./step.ts";

const options = z.strictObject({
  /** Candidates of a question that stay, at most. */
  best: z.int().min(1).default(1),
});

/** By reward, then fewest searches, then what the policy wrote least; what is still alike is drawn. */
export const perQuestion = defineStep({
  name: "per-question",
  kind: "filter",
  summary: "Keeps the best few of each question: by reward, then with fewest searches and words.",
  source: "Agent Distillation, arXiv 2505.17612: one trajectory a question; which one is ours",
  options,
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

/** The smaller the better. */
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
    // A writer without tokens.
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
