import type { RewardAddress } from "../trajectory/trajectory.ts";
import { valuesBy } from "../base/grouped-by.ts";
import { z } from "../base/schema.ts";
import type { CreditTokens, PlainAdvantage, Rewarded } from "./estimator.ts";

/**
 * What addressed rewards move.
 * - place: the tokens at the address alone.
 * - to-go: those tokens and all before them in their sequence, as they led there (process supervision, arXiv 2402.03300, section 4.1.3).
 * - trajectory: they are summed into the trajectory's reward, which every token gets.
 */
export const addressedCredit = z.enum(["place", "to-go", "trajectory"]).default("place");
export type AddressedCredit = z.output<typeof addressedCredit>;

/** With which of its group an addressed reward is compared: all of its name, those of them at the same turn, or none: it is an advantage. */
export const comparisons = ["name", "turn", "none"] as const;
export type Comparison = (typeof comparisons)[number];

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
  among: Comparison = "name",
): PlainAdvantage[] {
  const isAddressed = trajectories.some(({ rewards }) => rewards.some(counts));
  if (credit === "trajectory" || !isAddressed) {
    return compared(trajectories, netReward, baseline).map((value) => value ?? 0);
  }
  const outcomes = compared(
    trajectories,
    (each) => {
      const outcome = outcomeOf(each);
      return outcome === null ? null : outcome - sumOf(each.tokens.penalty);
    },
    baseline,
  );
  const steps = stepAdvantages(trajectories, baseline, among);
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
  tokens: CreditTokens,
  { call, token, endToken }: RewardAddress,
  credit: "place" | "to-go" = "place",
): number[] {
  const { previous } = tokens;
  const from = token ?? 0;
  const to = endToken ?? (token === undefined ? Infinity : token + 1);
  const named = (completionsOf(tokens).get(call) ?? []).slice(from, to);
  const last = named.at(-1);
  if (credit === "place" || last === undefined) return named;
  const path: number[] = [];
  for (let i = last; i >= 0; i = previous[i] ?? -1) path.push(i);
  return path.reverse();
}

/** Of each trajectory's tokens, those of its calls' completions: with a reward at every token, a search for each would take minutes. */
const completions = new WeakMap<CreditTokens, ReadonlyMap<number, readonly number[]>>();

/** The indices of each call's completion, in its order. */
function completionsOf(tokens: CreditTokens): ReadonlyMap<number, readonly number[]> {
  const known = completions.get(tokens);
  if (known !== undefined) return known;
  const written = tokens.call.flatMap((call, i) =>
    (tokens.place[i] ?? -1) < 0 ? [] : [{ call, i }],
  );
  const made = valuesBy(
    written,
    ({ call }) => call,
    ({ i }) => i,
  );
  completions.set(tokens, made);
  return made;
}

/**
 * A trajectory's rewards at its tokens, less their penalties: those with an address at the last trained token that it names (or, where it
 * names none, at the last one before), the rest at the last trained token.
 */
export function rewardsByToken(trajectory: Rewarded): number[] {
  const { tokens, rewards } = trajectory;
  const byToken = tokens.trained.map((isTrained, i) =>
    isTrained ? -(tokens.penalty?.[i] ?? 0) : 0,
  );
  const lastTrained = (upTo: number): number => {
    const last = tokens.trained.lastIndexOf(true, upTo);
    return last < 0 ? tokens.trained.indexOf(true) : last;
  };
  const add = (token: number, reward: number): void => {
    if (token >= 0) byToken[token]! += reward;
  };
  add(tokens.trained.lastIndexOf(true), outcomeOf(trajectory) ?? 0);
  for (const { at, value, weight } of rewards.filter(counts)) {
    if (at === null) continue;
    const place = tokensAt(tokens, at).at(-1) ?? tokens.call.lastIndexOf(at.call);
    add(lastTrained(place), weight * (value ?? 0));
  }
  return byToken;
}

/**
 * What is paid at each of a trajectory's turns, by index: rewards with an address at the turn of their call, the outcome less all
 * penalties at the last. null: the trajectory cannot be scored.
 */
export function rewardsByTurn(trajectory: Rewarded): number[] | null {
  const { tokens, rewards } = trajectory;
  const outcome = outcomeOf(trajectory);
  if (outcome === null) return null;
  const last = tokens.turn.reduce((most, turn) => Math.max(most, turn), 0);
  const byTurn = Array.from({ length: last + 1 }, () => 0);
  byTurn[last]! += outcome - sumOf(tokens.penalty);
  for (const { at, value, weight } of rewards.filter(counts)) {
    const turn = at === null ? -1 : (tokens.turn[tokens.call.indexOf(at.call)] ?? -1);
    byTurn[turn < 0 ? last : turn]! += weight * (value ?? 0);
  }
  return byTurn;
}

/** Σ γ^(k−t) · values[k] over k ≥ t, for each t. @example [1, 0, 2] with γ .5: [1.5, 1, 2] */
export function discountedToGo(values: readonly number[], gamma: number): number[] {
  const sums: number[] = [];
  let sum = 0;
  for (const value of values.toReversed()) sums.push((sum = value + gamma * sum));
  return sums.reverse();
}

/** The combined reward less all penalties. */
export function netReward({ reward, tokens }: Rewarded): number | null {
  return reward === null ? null : reward - sumOf(tokens.penalty);
}

function sumOf(values: readonly number[] | null): number {
  return values === null ? 0 : values.reduce((sum, each) => sum + each, 0);
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
  const groups = valuesBy(
    figures.flatMap(({ groupId, figure }) => (figure === null ? [] : [{ groupId, figure }])),
    ({ groupId }) => groupId,
    ({ figure }) => figure,
  );
  return figures.map(({ groupId, figure }) =>
    figure === null ? null : baseline(figure, groups.get(groupId) ?? []),
  );
}

interface StepAdvantage {
  at: RewardAddress;
  advantage: number;
}

/** Addressed rewards against those of the same name, or also of the same turn, in their group, or as they are; per trajectory. */
function stepAdvantages(
  trajectories: readonly Rewarded[],
  baseline: Baseline,
  among: Comparison,
): StepAdvantage[][] {
  const turnOf = ({ turn, call }: CreditTokens, at: RewardAddress | null): number | undefined =>
    among === "turn" && at !== null ? turn[call.indexOf(at.call)] : undefined;
  const scorable = trajectories.map(({ groupId, reward, rewards, tokens }) =>
    reward === null
      ? []
      : rewards
          .filter(counts)
          .map(({ name, value, weight, at }) => ({
            key: JSON.stringify([groupId, name, turnOf(tokens, at)]),
            figure: weight * (value ?? 0),
            at,
          })),
  );
  const groups = valuesBy(
    scorable.flat(),
    ({ key }) => key,
    ({ figure }) => figure,
  );
  return scorable.map((own) =>
    own.flatMap(({ key, figure, at }) =>
      at === null
        ? []
        : [{ at, advantage: among === "none" ? figure : baseline(figure, groups.get(key) ?? []) }],
    ),
  );
}
