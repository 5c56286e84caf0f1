import type { PartWithOptions } from "../base/part-schema.ts";
import type { Task } from "../trajectory/task.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import type { RewardExpectations } from "./expectations.ts";

/** A trajectory and its task. */
export interface Scored {
  trajectory: Trajectory;
  task: Task;
}

/** A value for the whole trajectory, or for one place in it. */
export type RewardResult =
  number | null | readonly { value: number; call: number; token?: number }[];

/** How good trajectories are. `null` means "cannot be scored": left out of the baseline, advantage 0, counted. */
export interface Reward extends PartWithOptions {
  /** Smallest and largest value. */
  readonly range: readonly [number, number];
  readonly source: string;
  /** What it must see at once: one trajectory, the trajectories of a group, or those of a batch. */
  readonly scope: "trajectory" | "group" | "batch";
  /** What it gives to answers that are known to be right, wrong or meant to cheat: `agentrl reward check` holds it to this. */
  readonly expects: RewardExpectations;
  /**
   * Scores what its scope says: one trajectory, or all of a group or batch. Must not change them.
   * @returns one result per trajectory, in order.
   */
  score(scored: readonly Scored[], options: Record<string, unknown>): Promise<RewardResult[]>;
}

/** A reward of the final text alone: most are. */
export function trajectoryReward(
  reward: Omit<Reward, "scope" | "score"> & {
    scoreOne: (scored: Scored, options: Record<string, unknown>) => number | null;
  },
): Reward {
  const { scoreOne, ...rest } = reward;
  return {
    ...rest,
    scope: "trajectory",
    score: (scored, options) => Promise.resolve(scored.map((each) => scoreOne(each, options))),
  };
}
