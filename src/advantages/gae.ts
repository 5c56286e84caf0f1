import { ConfigError } from "../base/errors.ts";
import { z } from "../base/schema.ts";
import { mean, sampleVariance } from "../base/statistics.ts";
import { ignoredWhen, when } from "../base/setting-effect.ts";
import { rewardsByToken } from "./credit.ts";
import {
  type DetailedAdvantage,
  type CreditTokens,
  defineEstimator,
  type Rewarded,
} from "./estimator.ts";

/**
 * What a step of the recursion is.
 * - policy-tokens: a token that is trained. What the environment wrote is skipped: the next value is that of the policy's next token.
 * - all-tokens: every token after the first prompt, the environment's too, at which the critic also learns.
 * - turns: a turn, whose value is that of its first token; all its tokens get its advantage.
 * - turns-then-tokens: turns by the values of their last tokens and `turnGamma`, then the tokens of each turn, whose return is its reward.
 */
const timeAxes = ["policy-tokens", "all-tokens", "turns", "turns-then-tokens"] as const;
type TimeAxis = (typeof timeAxes)[number];

export const gaeShape = {
  /** Discount of a step. */
  gamma: z.number().min(0).max(1).default(1),
  /** At 1 an advantage is the whole return less the value; at 0 one step's error. */
  lambda: z.number().min(0).max(1).default(1),
  timeAxis: z.enum(timeAxes).default("policy-tokens"),
  /** Discount of a turn. */
  turnGamma: z
    .number()
    .min(0)
    .max(1)
    .default(0.95)
    .meta(
      ignoredWhen({
        timeAxis: when("is not turns-then-tokens", (it) => it !== "turns-then-tokens"),
      }),
    ),
  /** Subtract the batch's mean over tokens and divide by the deviation, after returns are formed. */
  whiten: z.boolean().default(true),
};

/**
 * Generalised advantage estimation over the critic's values V: δ_t = r_t + γ V_{t+1} − V_t, A_t = δ_t + γλ A_{t+1}; the return that the critic
 * learns is A_t + V_t. A reward with an address comes at its last trained token, the rest at the trajectory's last. Whitened:
 * (A − mean) / √(variance + 1e-8) over the axis, with the unbiased variance (n − 1).
 *
 * Source: arXiv 1506.02438; verl, compute_gae_advantage_return (policy-tokens with its response mask, all-tokens without: Search-R1's runs);
 * turns-then-tokens: RAGEN, arXiv 2504.20073, compute_bi_level_gae_advantage_return. Different here: a turn of it ends where the
 * policy's tokens end, not where a reward is other than 0; unscorable trajectories leave the batch.
 *
 * @example values .5, .2, reward 1 at the end, γ 1, λ .5, not whitened: A = .8 at the last token, (.2 − .5) + .5 · .8 = .1 at the first
 */
export const gae = defineEstimator({
  name: "gae",
  summary: "Generalised advantage estimation with a critic, over tokens or turns (PPO).",
  source: "arXiv 1506.02438; verl, compute_gae_advantage_return; RAGEN, arXiv 2504.20073",
  needsGroups: false,
  reads: ["values"],
  options: z.strictObject(gaeShape),
  estimate(trajectories, { whiten, ...options }) {
    const estimated = trajectories.map((each) => estimateOf(each, options));
    if (!whiten) return estimated;
    const all = estimated.flatMap(({ advantages, axis }) =>
      axis.map((token) => advantages[token]!),
    );
    const centre = all.length === 0 ? 0 : mean(all);
    const deviation = Math.sqrt((all.length < 2 ? 0 : sampleVariance(all)) + 1e-8);
    for (const { advantages, axis } of estimated)
      for (const token of axis) advantages[token] = (advantages[token]! - centre) / deviation;
    return estimated;
  },
});

interface GaeOptions {
  gamma: number;
  lambda: number;
  timeAxis: TimeAxis;
  turnGamma: number;
}

interface Estimated extends DetailedAdvantage {
  /** Per token, 0 off the axis. */
  advantages: number[];
  returns: number[];
  /** The tokens with an advantage. */
  axis: number[];
}

/** One step of the recursion. */
interface TimeStep {
  reward: number;
  value: number;
}

function estimateOf(trajectory: Rewarded, options: GaeOptions): Estimated {
  const { tokens } = trajectory;
  const [advantages, returns] = [tokens.call.map(() => 0), tokens.call.map(() => NaN)];
  // What cannot be scored was not shown to the critic either.
  if (trajectory.reward === null) return { advantages, returns, axis: [] };
  const values = criticValues(tokens);
  const rewards = rewardsByToken(trajectory);
  const { gamma, lambda, timeAxis } = options;
  const set = (token: number, advantage: number): void => {
    advantages[token] = advantage;
    returns[token] = advantage + values[token]!;
  };
  const trained = indicesOf(tokens.trained);
  if (timeAxis === "policy-tokens" || timeAxis === "all-tokens") {
    const axis = timeAxis === "all-tokens" ? indicesOf(values.map(Number.isFinite)) : trained;
    const steps = axis.map((token) => ({ reward: rewards[token]!, value: values[token]! }));
    recursion(steps, gamma, lambda).forEach((advantage, i) => {
      set(axis[i]!, advantage);
    });
    return { advantages, returns, axis };
  }
  const turns = turnsOf(tokens, trained);
  const total = (turn: readonly number[]): number => turn.reduce((sum, t) => sum + rewards[t]!, 0);
  if (timeAxis === "turns") {
    const steps = turns.map((turn) => ({ reward: total(turn), value: values[turn[0]!]! }));
    recursion(steps, gamma, lambda).forEach((advantage, i) => {
      const turn = turns[i]!;
      for (const token of turn) advantages[token] = advantage;
      set(turn[0]!, advantage);
    });
    return { advantages, returns, axis: trained };
  }
  const steps = turns.map((turn) => ({ reward: total(turn), value: values[turn.at(-1)!]! }));
  recursion(steps, options.turnGamma, lambda).forEach((advantage, i) => {
    const turn = turns[i]!;
    const turnReturn = advantage + steps[i]!.value;
    const inner = turn.map((token, k) => ({
      reward: k === turn.length - 1 ? turnReturn : 0,
      value: values[token]!,
    }));
    recursion(inner, gamma, lambda).forEach((own, k) => {
      set(turn[k]!, own);
    });
  });
  return { advantages, returns, axis: trained };
}

/** A_t = δ_t + γλ A_{t+1}, from the last step to the first; after the last, value and advantage are 0. */
function recursion(steps: readonly TimeStep[], gamma: number, lambda: number): number[] {
  const advantages = new Array<number>(steps.length);
  let next = { value: 0, advantage: 0 };
  for (let t = steps.length - 1; t >= 0; t--) {
    const { reward, value } = steps[t]!;
    const delta = reward + gamma * next.value - value;
    next = { value, advantage: delta + gamma * lambda * next.advantage };
    advantages[t] = next.advantage;
  }
  return advantages;
}

/** @throws {ConfigError} ENGINE_NO_ROLE without a critic. */
function criticValues({ values }: CreditTokens): readonly number[] {
  if (values !== null) return values;
  throw new ConfigError(
    "ENGINE_NO_ROLE",
    `advantage estimator "gae" reads a critic's values, and this algorithm has no critic. Use algorithm.name ppo.`,
  );
}

function indicesOf(flags: readonly boolean[]): number[] {
  return flags.flatMap((flag, i) => (flag ? [i] : []));
}

/** The trained tokens of each call. */
function turnsOf({ call }: CreditTokens, trained: readonly number[]): number[][] {
  const turns: number[][] = [];
  let last = -1;
  for (const token of trained) {
    if (call[token] !== last) turns.push([]);
    last = call[token]!;
    turns.at(-1)!.push(token);
  }
  return turns;
}
