import { z } from "../base/schema.ts";
import { defineReward } from "./reward.ts";

/**
 * The number of tool calls of each turn that has some, at that turn, whether they ran or failed. With `cumulative` all calls up to there count, so that each
 * further call costs more than the one before. The weight sets the price and its sign.
 *
 * Source: the search count of MT-PPO, arXiv 2505.11821, second version: −.1 times the searches so far at each turn that searches.
 *
 * @example one call, then two, then an answer: 1, 2; cumulative 1, 3
 */
export const toolCount = defineReward({
  name: "tool-count",
  summary: "Per turn: its tool calls, or with cumulative all calls so far.",
  range: [0, Infinity],
  source: "MT-PPO, arXiv 2505.11821, search count",
  placed: true,
  options: z.strictObject({
    /** All calls up to and with this turn count, not its own alone. */
    cumulative: z.boolean().default(false),
  }),
  score: ({ trajectory: { turns } }, { cumulative }) => {
    let before = 0;
    return turns.flatMap(({ observations: { length } }, turn) => {
      if (length === 0) return [];
      before += length;
      return [{ turn, value: cumulative ? before : length }];
    });
  },
});
