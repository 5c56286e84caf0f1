import { z } from "../base/schema.ts";
import { exactMatch } from "../text/answers.ts";
import { defineReward } from "./reward.ts";

/**
 * Share of a composed question's parts that the answer gets right: its texts between separators are compared with the parts in order. No answer
 * is 0; a question without `annotations.parts` is not scored.
 *
 * Source: the exact match of MEM1, arXiv 2506.15841, which is their number: weight it by the number of parts.
 * @example parts [["Oslo"], ["1814"]], separator ";", answer "Oslo; 1815" // .5
 */
export const partsMatch = defineReward({
  name: "parts-match",
  summary: "Share of a composed question's parts that the answer gets right.",
  range: [0, 1],
  source: "MEM1, arXiv 2506.15841",
  options: z.strictObject({
    /** Text between two answers. */
    separator: z.string().min(1).default(";"),
  }),
  score({ trajectory: { answer }, task: { annotations } }, { separator }) {
    const { parts = [] } = annotations;
    if (parts.length === 0) return null;
    const given = answer?.split(separator) ?? [];
    const right = parts.filter((accepted, i) => exactMatch(given[i] ?? "", accepted) === 1);
    return right.length / parts.length;
  },
});
