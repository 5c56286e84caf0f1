import { z } from "../base/schema.ts";
import { blockTexts } from "./block-texts.ts";
import { defineReward } from "./reward.ts";

const options = z.strictObject({
  /** Tag of the block that lists the numbers of passages. */
  tag: z.string().min(1).default("relevance"),
});

/**
 * Whether the numbers of passages that the policy's last block cites are those of the gold passages: 1 for exactly these, .5 for some of them, 0 for none, for
 * numbers without a passage and without a block. The passages are those that the prompt showed, counted from 1. A task without gold passages, or a prompt
 * without passages, cannot be scored.
 *
 * Source: the relevance reward of ARENA, arXiv 2505.13258. Different here: a wrong format does not count by itself; a gate in `reward:` makes it count.
 *
 * @example gold 1 and 3: "[1, 3]" → 1, "[3]" and "[1, 2, 3]" → .5, "[2]" → 0
 */
export const citationSet = defineReward({
  name: "citation-set",
  summary: "1 if exactly the gold passages of the prompt are cited by number, .5 for some of them.",
  range: [0, 1],
  source: "ARENA, arXiv 2505.13258, relevance reward",
  options,
  score: ({ trajectory: { turns, given = [] }, task }, { tag }) => {
    const shown = given.flatMap(({ passageIds = [] }) => passageIds);
    const gold = new Set(task.annotations.supportingPassages ?? []);
    if (gold.size === 0 || shown.length === 0) return null;
    const text = turns.flatMap((turn) => blockTexts(turn.text, tag)).at(-1) ?? "";
    const cited = new Set(Array.from(text.matchAll(/\d+/g), ([number]) => Number(number)));
    const right = [...cited].filter((number) => gold.has(shown[number - 1] ?? "")).length;
    if (right === 0) return 0;
    return right === gold.size && cited.size === gold.size ? 1 : 0.5;
  },
});
