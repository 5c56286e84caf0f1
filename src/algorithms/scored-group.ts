import { meanOrZero } from "../base/statistics.ts";
import type { Task } from "../trajectory/task.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";

/** Rollouts that are compared with each other. */
export interface RolloutGroup {
  groupId: string;
  trajectories: readonly Trajectory[];
}

/** Scored rollouts of one task. */
export interface ScoredGroup extends RolloutGroup {
  task: Task;
}

/**
 * The scores of a group's training rollouts.
 * @param reward by name, before any normalising; null: the combined reward. Values with addresses are summed.
 * @returns those that could be scored.
 */
export function scoresOf({ trajectories }: RolloutGroup, reward: string | null): number[] {
  return trajectories.flatMap((each) =>
    each.purpose === "train" ? (scoreOf(each, reward) ?? []) : [],
  );
}

/** Whether the mean score of a group lies strictly between two bounds; false where nothing could be scored. */
export function hasMeanBetween(
  group: RolloutGroup,
  { reward = null, above, below }: { reward?: string | null; above: number; below: number },
): boolean {
  const scores = scoresOf(group, reward);
  const centre = meanOrZero(scores);
  return scores.length > 0 && centre > above && centre < below;
}

/** @returns null where it could not be scored. */
export function scoreOf(trajectory: Trajectory, reward: string | null): number | null {
  if (reward === null) return trajectory.reward;
  const values = trajectory.rewards.flatMap(({ name, value }) => (name === reward ? [value] : []));
  if (values.length === 0 || values.includes(null)) return null;
  return values.reduce<number>((sum, value) => sum + (value ?? 0), 0);
}
