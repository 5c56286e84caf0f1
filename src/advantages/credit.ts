import type { RewardAddress } from "../trajectory/trajectory.ts";
import { groupedBy } from "../base/grouped-by.ts";
import { z } from "../base/schema.ts";
import type { Advantage, CreditTokens, Rewarded } from "./estimator.ts";

/**
 * What addressed rewards move.
 * - place: the tokens at the address alone.
 * - to-go: those tokens and all before them in their sequence, as they led there (process supervision, arXiv 2402.03300, section 4.1.3).
 * - trajectory: they are summed into the trajectory's reward, which every token gets.
 */
export const addressedCredit = z.enum(["place", "to-go", "trajectory"]).default("place");
export type AddressedCredit = z.output<typeof addressedCredit>;

/**
 * Advantage of a reward among those that it is compared with.
 * @param compared all scorable rewards of the group, `reward` among them.
 */
export type Baseline = (reward: number, compared: readonly number[]) => number;

/**
 * Advantages by address. Rewards of the whole trajectory are compared within their group and reach every token; addressed rewards are
 * compared with those of the same name in the group, each in its own right, and reach the tokens that `credit` says. Without addressed
 * rewards this is one number per trajectory.
 *
 * @example outcome 1 and 0 in a group, the first also has .5 at its turn 1 and the second 0 at its turn 1, baseline r − mean, place:
 *   tokens of the first's turn 1 get .5 + .25, its other tokens .5
 */
export function creditByAddress(
  trajectories: readonly Rewarded[],
  credit: AddressedCredit,
  baseline: Baseline,
): Advantage[] {
  const isAddressed = trajectories.some(({ rewards }) => rewards.some(counts));
  if (credit === "trajectory" || !isAddressed) {
    return compared(trajectories, ({ reward }) => reward, baseline).map((value) => value ?? 0);
  }
  const outcomes = compared(trajectories, outcomeOf, baseline);
  const steps = stepAdvantages(trajectories, baseline);
  return trajectories.map(({ tokens }, i) => {
    const outcome = outcomes[i];
    if (outcome === undefined || outcome === null) return 0;
    const perToken = tokens.call.map(() => outcome);
    for (const { at, advantage } of steps[i] ?? []) {
      for (const token of tokensAt(tokens, at, credit)) perToken[token]! += advantage;
    }
    return perToken;
  });
}

/**
 * Indices of the tokens that an address names.
 * @param credit to-go adds all tokens before them in their sequence.
 */
export function tokensAt(
  { call, place, previous }: CreditTokens,
  { call: at, token, endToken }: RewardAddress,
  credit: "place" | "to-go" = "place",
): number[] {
  const from = token ?? 0;
  const to = endToken ?? (token === undefined ? Infinity : token + 1);
  const named = call.flatMap((each, i) => {
    const index = place[i] ?? -1;
    return each === at && index >= from && index < to ? [i] : [];
  });
  const last = named.at(-1);
  if (credit === "place" || last === undefined) return named;
  const path: number[] = [];
  for (let i = last; i >= 0; i = previous[i] ?? -1) path.push(i);
  return path.reverse();
}

/** Whether a reward has an address and counts. */
function counts({ at, weight, value }: Rewarded["rewards"][number]): boolean {
  return at !== null && weight !== 0 && value !== null;
}

/** The trajectory's reward without what is addressed. */
function outcomeOf({ reward, rewards }: Rewarded): number | null {
  if (reward === null) return null;
  const addressed = rewards.filter(counts);
  if (addressed.length === 0) return reward;
  const whole = rewards.filter(({ at, weight }) => at === null && weight !== 0);
  return whole.reduce((sum, { value, weight }) => sum + weight * (value ?? 0), 0);
}

/** Each trajectory's figure against its group's; null where it has none. */
function compared(
  trajectories: readonly Rewarded[],
  figureOf: (trajectory: Rewarded) => number | null,
  baseline: Baseline,
): (number | null)[] {
  const figures = trajectories.map((each) => ({ ...each, figure: figureOf(each) }));
  const groups = new Map<string, number[]>();
  for (const [groupId, members] of groupedBy(figures, (each) => each.groupId))
    groups.set(
      groupId,
      members.flatMap(({ figure }) => figure ?? []),
    );
  return figures.map(({ groupId, figure }) =>
    figure === null ? null : baseline(figure, groups.get(groupId) ?? []),
  );
}

interface StepAdvantage {
  at: RewardAddress;
  advantage: number;
}

/** Addressed rewards against those of the same name in their group, per trajectory. */
function stepAdvantages(trajectories: readonly Rewarded[], baseline: Baseline): StepAdvantage[][] {
  const keyOf = (groupId: string, name: string): string => JSON.stringify([groupId, name]);
  const scorable = trajectories.map(({ groupId, reward, rewards }) =>
    reward === null
      ? []
      : rewards.filter(counts).map(({ name, value, weight, at }) => ({
          key: keyOf(groupId, name),
          figure: weight * (value ?? 0),
          at,
        })),
  );
  const groups = groupedBy(scorable.flat(), ({ key }) => key);
  return scorable.map((own) =>
    own.flatMap(({ key, figure, at }) => {
      const compared = (groups.get(key) ?? []).map((each) => each.figure);
      return at === null ? [] : [{ at, advantage: baseline(figure, compared) }];
    }),
  );
}
