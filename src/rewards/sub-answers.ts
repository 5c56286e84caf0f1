import { z } from "../base/schema.ts";
import { exactMatch } from "../text/answers.ts";
import { blockTexts } from "./block-texts.ts";
import { defineReward } from "./reward.ts";

const options = z.strictObject({
  /** all: 1 if all are right, else 0. partial: an equal share for each. discounted: 1 if all are right, else shares that fall with the position. */
  credit: z.enum(["all", "partial", "discounted"]).default("discounted"),
});

/**
 * Right answers on the way: those before the last are compared with the answers of the question's steps, in any order and each step once. With M
 * steps whose answer is not the question's own: all gives 1 if the answers before the last are exactly these M; partial 1/M for each right one;
 * discounted 1 if all, else 1/M · Σ 1/k over the positions k (from 1) of right ones. A question without steps cannot be scored.
 *
 * Source: intermediate rewards of arXiv 2505.19640, section on rewards, there times R_base = .5; its conditions (final answer right, format valid,
 * accuracy of the batch above that of the one before less .05) belong in the recipe's `reward:`. Different here: M is the number of steps known, where
 * the paper has N − 1 of N answers, so that few answers cannot earn everything.
 *
 * @example steps a, b, c; answers "a", "x", "c", then the last: all 0, partial 2/3, discounted 1/3 · (1 + 1/3) = 4/9
 */
export const subAnswers = defineReward({
  name: "sub-answers",
  summary: "How many answers before the last are right answers of the question's steps.",
  range: [0, 1],
  source: "arXiv 2505.19640, intermediate rewards",
  options,
  score: ({ trajectory: { turns }, task }, { credit }) => {
    const steps = (task.annotations.decomposition ?? [])
      .map(({ answer }) => answer)
      .filter((answer) => answer !== "" && exactMatch(answer, task.references) === 0);
    if (steps.length === 0) return null;
    const given = turns.flatMap(({ text }) => blockTexts(text, "answer")).slice(0, -1);
    const right = rightPositions(given, steps);
    if (given.length === steps.length && right.length === steps.length) return 1;
    const shares = { all: 0, partial: right.length, discounted: sum(right.map((k) => 1 / k)) };
    return Math.min(1, shares[credit] / steps.length);
  },
});

/** Positions, from 1, of answers that a step has which no earlier answer took. */
function rightPositions(given: readonly string[], steps: readonly string[]): number[] {
  const open = [...steps];
  return given.flatMap((answer, i) => {
    const found = open.findIndex((step) => exactMatch(answer, [step]) === 1);
    if (found >= 0) open.splice(found, 1);
    return found >= 0 ? [i + 1] : [];
  });
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
