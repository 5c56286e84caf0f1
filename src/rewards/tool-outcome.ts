import { z } from "../base/schema.ts";
import type { Observation } from "../trajectory/trajectory.ts";
import { defineReward } from "./reward.ts";

/**
 * The share of tool calls that ran without a problem: known tool, valid arguments, a budget that allows the call, and no error of the
 * tool. Without a call it is 0, so that a policy gains nothing by calling no tool.
 *
 * Source: arXiv 2505.11821, which pays 0.2 times the share; CoRT, arXiv 2506.09820, which subtracts 0.1 where every call failed. Different
 * here: the weight or the reward expression sets those numbers.
 */
export const toolOutcome = defineReward({
  name: "tool-outcome",
  summary: "Share of tool calls that ran without a problem; 0 without a call.",
  range: [0, 1],
  source: "arXiv 2505.11821, tool execution reward; CoRT, arXiv 2506.09820, code reward",
  placed: ({ per }) => per !== "trajectory",
  options: z.strictObject({
    /** trajectory: one value for all calls. turn: a value for each turn with calls, which credits that turn. */
    per: z.enum(["trajectory", "turn"]).default("trajectory"),
  }),
  score: ({ trajectory: { turns } }, { per }) => {
    if (per === "trajectory") return success(turns.flatMap(({ observations }) => observations));
    return turns.flatMap(({ observations }, turn) =>
      observations.length === 0 ? [] : [{ turn, value: success(observations) }],
    );
  },
});

function success(observations: readonly Observation[]): number {
  const sound = observations.filter(({ problem }) => problem === undefined);
  return sound.length / Math.max(1, observations.length);
}
