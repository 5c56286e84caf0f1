import type { Registry } from "../base/registry.ts";
import { rewards } from "../rewards/index.ts";
import type { Reward, RewardResult, Scored } from "../rewards/reward.ts";

/** A reward as a recipe uses it. */
export interface WeightedReward {
  name: string;
  /** 0 computes and records it without training on it. */
  weight: number;
  options: Record<string, unknown>;
}

/**
 * Scores trajectories in place: every reward by name (and address), and their weighted sum. A trajectory that ended in an error,
 * or one that any weighted reward cannot score, has reward null.
 *
 * @param registry where names are looked up.
 */
export async function scoreTrajectories(
  scored: readonly Scored[],
  weighted: readonly WeightedReward[],
  registry: Registry<Reward> = rewards,
): Promise<void> {
  const totals = scored.map(({ trajectory }): number | null =>
    trajectory.error === undefined ? 0 : null,
  );
  for (const { name, weight, options } of weighted) {
    const results = await scoreByScope(registry.get(name, "rewards"), scored, options);
    scored.forEach(({ trajectory }, i) => {
      for (const value of addressed(name, results[i] ?? null)) {
        trajectory.rewards.push(value);
        const total = totals[i] ?? null;
        if (weight === 0) continue;
        totals[i] = total === null || value.value === null ? null : total + weight * value.value;
      }
    });
  }
  scored.forEach(({ trajectory }, i) => (trajectory.reward = totals[i] ?? null));
}

async function scoreByScope(
  reward: Reward,
  scored: readonly Scored[],
  options: Record<string, unknown>,
): Promise<RewardResult[]> {
  if (reward.scope !== "group") return reward.score(scored, options);
  const groups = new Map<string, Scored[]>();
  for (const each of scored) {
    const { groupId } = each.trajectory;
    groups.set(groupId, [...(groups.get(groupId) ?? []), each]);
  }
  const results = new Map<Scored, RewardResult>();
  for (const members of groups.values()) {
    const part = await reward.score(members, options);
    members.forEach((each, k) => results.set(each, part[k] ?? null));
  }
  return scored.map((each) => results.get(each) ?? null);
}

function addressed(name: string, result: RewardResult): Scored["trajectory"]["rewards"] {
  if (result === null || typeof result === "number") return [{ name, value: result, at: null }];
  return result.map(({ value, ...at }) => ({ name, value, at }));
}
