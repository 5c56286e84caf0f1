import { groupedBy } from "../base/grouped-by.ts";
import { z } from "../base/schema.ts";
import { mean } from "../base/statistics.ts";
import {
  allEqual,
  defineEstimator,
  type EstimatedReward,
  type Rewarded,
  sampleDeviation,
} from "./estimator.ts";

const options = z.strictObject({
  /** Names of the rewards that make the turn's advantage; absent: those with an address. The others make the outcome's. */
  turn: z
    .array(z.string().meta({ names: "reward" }))
    .min(1)
    .optional(),
  /** Share of the turn's advantage beside the outcome's, before the first result. */
  lambda: z.number().default(1),
  /** Added to the deviation. */
  epsilon: z.number().positive().default(1e-4),
});

/**
 * Three advantages, each (r − mean) / (deviation + ε) within the group: A_T of the turn's rewards, A_O of all others, A_C of their sum.
 * Tokens before the first result of a tool get A_O + λ·A_T, those after it A_O. A trajectory without a result gets A_C at every token.
 *
 * Source: MT-GRPO, arXiv 2505.11821, as its code has it: SiliangZeng/Multi-Turn-RL-Agent, mt_grpo_env_trainer.py. Its baselines are the
 * estimator `group`: GRPO-MR with all rewards, GRPO-OR without the turn's. The deviation is the sample deviation (n − 1), as there.
 *
 * @example turn's rewards .5 and 0, outcomes 0 and 1, ε → 0, both with a result: .707 − .707 = 0 and 0 before it, −.707 and .707 after it
 */
export const turnSplit = defineEstimator({
  name: "turn-split",
  summary: "Turn and outcome rewards against the group each, split at the first result (MT-GRPO).",
  source: "MT-GRPO, arXiv 2505.11821; SiliangZeng/Multi-Turn-RL-Agent, mt_grpo_env_trainer.py",
  needsGroups: true,
  options,
  estimate(trajectories, { turn, lambda, epsilon }) {
    const split = trajectories.map((each) => ({ ...each, ...splitReward(each, turn) }));
    const groups = groupedBy(
      split.filter(({ reward }) => reward !== null),
      ({ groupId }) => groupId,
    );
    return split.map(({ groupId, reward, turns, outcome, tokens }) => {
      if (reward === null) return 0;
      const group = groups.get(groupId) ?? [];
      const against = (value: number, values: readonly number[]): number =>
        allEqual(values) ? 0 : (value - mean(values)) / (sampleDeviation(values) + epsilon);
      const { firstResult } = tokens;
      if (firstResult === null) {
        return against(
          reward,
          group.map((each) => each.reward ?? 0),
        );
      }
      const ofOutcome = against(
        outcome,
        group.map((each) => each.outcome),
      );
      const ofTurns = against(
        turns,
        group.map((each) => each.turns),
      );
      return tokens.call.map((call) =>
        call <= firstResult ? ofOutcome + lambda * ofTurns : ofOutcome,
      );
    });
  },
});

/** A reward in two parts. @param names of the turn's rewards; absent: those with an address. */
function splitReward(
  { reward, rewards }: Rewarded,
  names: readonly string[] | undefined,
): { turns: number; outcome: number } {
  const isTurns = ({ name, at }: EstimatedReward): boolean => names?.includes(name) ?? at !== null;
  const own = rewards.filter(isTurns);
  if (own.length === 0) return { turns: 0, outcome: reward ?? 0 };
  return { turns: total(own), outcome: total(rewards.filter((each) => !isTurns(each))) };
}

function total(rewards: readonly EstimatedReward[]): number {
  return rewards.reduce((sum, { value, weight }) => sum + weight * (value ?? 0), 0);
}
