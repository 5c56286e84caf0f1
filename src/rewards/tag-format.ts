import { z } from "../base/schema.ts";
import { type Turn, isInvalidTurn } from "../trajectory/trajectory.ts";
import { blockPattern } from "./block-texts.ts";
import { defineReward } from "./reward.ts";

const options = z.strictObject({
  /** Tags whose blocks each message begins with, in this order. */
  blocks: z.array(z.string().min(1)).default(["think"]),
  /** Tags whose blocks may stand between these and the action. */
  optional: z.array(z.string().min(1)).default([]),
  /** A message may answer more than once, with its blocks before each answer. */
  intermediateAnswers: z.boolean().optional(),
  /** Longer answers are a wrong format; any length when absent. R1-Searcher: 10. */
  answerWords: z.int().min(1).optional(),
  /** Only the message that answers, or only all others, is checked; by default every message. */
  only: z.enum(["answer", "calls"]).optional(),
  /** trajectory: one value. turn: a value for each message that `only` chooses, which credits that turn. */
  per: z.enum(["trajectory", "turn"]).default("trajectory"),
});

/** Anything that looks like a tag: none may stand inside of an action. */
const TAG = /<\/?[\w-]+>|<\|[\w-]+\|>/;

/**
 * 1 if a trajectory is blocks and calls in turn, and then an answer: every message is its blocks and one valid action, without a tag inside of the
 * action or text outside of the tags, and the last one answers. Else 0.
 *
 * Source: the structure check of arXiv 2505.15117 (think → (search → information → think)* → answer); R1-Searcher, arXiv 2503.05592, for
 * `answerWords`; Agent-R1, arXiv 2511.14460, for `only`, whose two halves it scores apart. Different here: results are the environment's, so that only the policy's messages are checked; what was cut off behind an action does not count.
 *
 * @example "<think>a</think><search>x</search>", then "<think>b</think><answer>y</answer>": 1
 */
export const tagFormat = defineReward({
  name: "tag-format",
  summary: "1 if every message is its blocks and one action, and the last one answers, else 0.",
  range: [0, 1],
  source: "arXiv 2505.15117, structure check; R1-Searcher, arXiv 2503.05592",
  placed: ({ per }) => per !== "trajectory",
  options,
  score: ({ trajectory }, given) => {
    const { blocks, optional, intermediateAnswers = false, answerWords = Infinity } = given;
    const shape = shapeOf(blocks, optional, intermediateAnswers);
    const own = trajectory.turns.flatMap((turn, index) =>
      turn.chain === undefined ? [{ turn: index, isRight: isFormed(turn, shape) }] : [],
    );
    const answer = trajectory.end === "answered" ? trajectory.answer : null;
    const isShort = (answer ?? "").trim().split(/\s+/).length <= answerWords;
    const answering = (answer === null ? [] : own.slice(-1)).map(({ turn, isRight }) => {
      return { turn, isRight: isRight && isShort };
    });
    const calls = own.slice(0, own.length - answering.length);
    const choices = { calls, answer: answering, all: [...calls, ...answering] };
    const checked = choices[given.only ?? "all"];
    if (given.per === "turn")
      return checked.map(({ turn, isRight }) => ({ turn, value: Number(isRight) }));
    const isMissing = answer === null && given.only !== "calls";
    return Number(!isMissing && checked.every(({ isRight }) => isRight));
  },
});

/** Matches a message; its group is what stands between the tags of its last action. */
function shapeOf(
  blocks: readonly string[],
  optional: readonly string[],
  isRepeated: boolean,
): RegExp {
  const block = (name: string): string => `${blockPattern(name)}\\s*`;
  const before =
    blocks.map(block).join("") + optional.map((name) => `(?:${block(name)})?`).join("");
  const earlier = isRepeated ? `(?:${before}${block("answer")})*` : "";
  return new RegExp(`^\\s*${earlier}${before}<[^<>]+>(.*)<[^<>]+>\\s*$`, "s");
}

function isFormed(turn: Turn, shape: RegExp): boolean {
  const input = shape.exec(turn.text)?.[1];
  return (
    input !== undefined && turn.actions.length === 1 && !isInvalidTurn(turn) && !TAG.test(input)
  );
}
