import { z } from "../base/schema.ts";
import { coverExactMatch } from "../text/answers.ts";
import type { Turn } from "../trajectory/trajectory.ts";
import { blockTexts } from "./block-texts.ts";
import { defineReward } from "./reward.ts";

const options = z.strictObject({
  /** Tag of the policy's own blocks to read in place of the replies. */
  block: z.string().min(1).optional(),
  /** Only the first search counts, or the first block. */
  first: z.boolean().optional(),
  /** trajectory: one value. turn: a value for each turn with searches, or with blocks, which credits that turn. */
  per: z.enum(["trajectory", "turn"]).default("trajectory"),
});

/**
 * 1 if a search of the policy's showed a reference, or, with `block`, if one of its blocks states one; whatever was answered. A term beside a reward of
 * the answer: alone it pays for searching without end, and a policy that is trained on it stops answering.
 *
 * Source: the retrieval reward of arXiv 2505.15117 (there only where the format is valid and the answer is wrong), and the turn
 * reward of arXiv 2505.11821 (.5 of it; in its second version .3 for each turn). Different here: no condition on format or answer; a weight makes it a term. With `block: refine`
 * the retrieval-specific reward of AutoRefine, arXiv 2505.11277, which reads all blocks as one text.
 */
export const retrievalHit = defineReward({
  name: "retrieval-hit",
  summary: "1 if a search showed a text that contains a reference after normalisation, else 0.",
  range: [0, 1],
  source:
    "arXiv 2505.15117, retrieval reward; arXiv 2505.11821, turn reward; AutoRefine, arXiv 2505.11277",
  placed: ({ per }) => per !== "trajectory",
  options,
  score: ({ trajectory: { turns }, task: { references } }, { block, first = false, per }) => {
    const read = (turn: Turn): string[] =>
      block === undefined ? shown(turn) : blockTexts(turn.text, block);
    const hit = (all: readonly string[]): number => {
      const counted = first ? all.slice(0, 1) : all;
      // A reference may begin in one block and end in the next.
      const texts = block === undefined ? counted : [counted.join(" ")];
      return Number(texts.some((text) => coverExactMatch(text, references) === 1));
    };
    if (per === "trajectory") return hit(turns.flatMap(read));
    return turns.flatMap((each, turn) => {
      const all = read(each);
      return all.length === 0 ? [] : [{ turn, value: hit(all) }];
    });
  },
});

function shown({ observations }: Turn): string[] {
  return observations.filter(({ tool }) => tool === "search").map(({ text }) => text);
}
