import type { PartWithOptions } from "../base/part-schema.ts";

/** What an estimator sees of one trajectory. */
export interface Rewarded {
  /** Trajectories compared with each other share it; groups may have any size and order. */
  groupId: string;
  /** null: cannot be scored. Leaves the baseline; its advantage is 0. */
  reward: number | null;
  /** Tokens that the policy wrote. */
  policyTokens: number;
}

/** Rewards made into advantages. */
export interface AdvantageEstimator extends PartWithOptions {
  readonly source: string;
  /** True when a trajectory is compared with others of its group: groups of one teach nothing. */
  readonly needsGroups: boolean;
  /** @returns per trajectory, in order: one number for all its tokens, or one for each token that the policy wrote. */
  estimate(
    trajectories: readonly Rewarded[],
    options: Readonly<Record<string, unknown>>,
  ): (number | readonly number[])[];
}

/** Mean over the numbers; 0 of none. */
export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, each) => sum + each, 0) / values.length;
}

/** Sample deviation (n − 1); 0 of fewer than two. */
export function sampleDeviation(values: readonly number[]): number {
  if (values.length < 2) return 0;
  const centre = mean(values);
  return Math.sqrt(values.reduce((sum, x) => sum + (x - centre) ** 2, 0) / (values.length - 1));
}

/**
 * True when there is nothing to compare: no two numbers differ. Estimators test it before they subtract a mean, whose rounding
 * would leave dust where 0 is meant.
 */
export function allEqual(values: readonly number[]): boolean {
  return values.every((each) => each === values[0]);
}

/** The scorable rewards of each group. */
export function rewardsByGroup(
  trajectories: readonly Pick<Rewarded, "groupId" | "reward">[],
): Map<string, number[]> {
  const groups = new Map<string, number[]>();
  for (const { groupId, reward } of trajectories) {
    const group = groups.get(groupId) ?? [];
    if (reward !== null) group.push(reward);
    groups.set(groupId, group);
  }
  return groups;
}
