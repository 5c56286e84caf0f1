import { z } from "../base/schema.ts";
import type { Turn } from "../trajectory/trajectory.ts";
import { blockPattern } from "./block-texts.ts";
import { defineReward } from "./reward.ts";

const options = z.strictObject({
  /** Tags whose blocks each message begins with, in this order. */
  blocks: z.array(z.string().min(1)).default(["think"]),
  /** Tags whose blocks may stand between these and the action. */
  optional: z.array(z.string().min(1)).default([]),
  /** Longer answers are a wrong format; any length when absent. R1-Searcher: 10. */
  answerWords: z.int().min(1).optional(),
});

/** Anything that looks like a tag: none may stand inside of an action. */
const TAG = /<\/?[\w-]+>|<\|[\w-]+\|>/;

/**
 * 1 if a trajectory is blocks and calls in turn, and then an answer: every message is its blocks and one valid action, without a tag inside of the
 * action or text outside of the tags, and the last one answers. Else 0.
 *
 * Source: the structure check of arXiv 2505.15117 (think → (search → information → think)* → answer); R1-Searcher, arXiv 2503.05592, for
 * `answerWords`. Different here: results are the environment's, so that only the policy's messages are checked; what was cut off behind an action does not count.
 *
 * @example "<think>a</think><search>x</search>", then "<think>b</think><answer>y</answer>": 1
 */
export const tagFormat = defineReward({
  name: "tag-format",
  summary: "1 if every message is its blocks and one action, and the last one answers, else 0.",
  range: [0, 1],
  source: "arXiv 2505.15117, structure check; R1-Searcher, arXiv 2503.05592",
  options,
  score: ({ trajectory: { turns, answer, end } }, { blocks, optional, answerWords = Infinity }) => {
    const own = turns.filter(({ chain }) => chain === undefined);
    if (end !== "answered" || answer === null) return 0;
    if (answer.trim().split(/\s+/).length > answerWords) return 0;
    const shape = shapeOf(blocks, optional);
    return Number(own.every((turn) => isFormed(turn, shape)));
  },
});

/** Matches a message; its group is what stands between the action's tags. */
function shapeOf(blocks: readonly string[], optional: readonly string[]): RegExp {
  const block = (name: string): string => `${blockPattern(name)}\\s*`;
  const demanded = blocks.map(block).join("");
  const free = optional.map((name) => `(?:${block(name)})?`).join("");
  return new RegExp(`^\\s*${demanded}${free}<[^<>]+>(.*)<[^<>]+>\\s*$`, "s");
}

function isFormed({ text, actions, problems }: Turn, shape: RegExp): boolean {
  const input = shape.exec(text)?.[1];
  return input !== undefined && actions.length === 1 && problems.length === 0 && !TAG.test(input);
}
