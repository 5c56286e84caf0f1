import { type PartWithOptions, definer } from "../base/define-part.ts";
import { ConfigError } from "../base/errors.ts";
import { sampleVariance } from "../base/statistics.ts";
import type { Owner, RewardAddress } from "../trajectory/trajectory.ts";

/**
 * The tokens of one trajectory, each once: tokens that branches share have one place. n tokens, a token after the one that precedes it
 * in its sequence. All arrays are [n].
 */
export interface CreditTokens {
  /** Index of the token before it in its sequence; −1 where a prompt begins. */
  readonly previous: readonly number[];
  /** Index in the trajectory's calls. */
  readonly call: readonly number[];
  /** Index within the call's completion; −1 in its prompt. */
  readonly place: readonly number[];
  /** Index in the trajectory's turns; −1 where the call belongs to none. */
  readonly turn: readonly number[];
  readonly owner: readonly Owner[];
  /** Index of the first call that results of tools followed; null without any. */
  readonly firstResult: number | null;
  /** Whether the loss learns from it here: false too where it is another trajectory's (see `Rewarded.branch`). */
  readonly trained: readonly boolean[];
  /**
   * Log-probabilities, nats, under the policy as it sampled (`old`), the frozen reference, and the policy as it is now. null where nothing
   * asked for them (`AdvantageEstimator.reads`); NaN at tokens that are not trained.
   */
  readonly logprobs: {
    readonly old: readonly number[] | null;
    readonly reference: readonly number[] | null;
    readonly policy: readonly number[] | null;
  };
  /** The critic's value of what comes before each token, NaN in first prompts; null without a critic. */
  readonly values: readonly number[] | null;
  /** Subtracted from the reward at each token: KL to the reference, where it belongs to the reward. null: nothing. */
  readonly penalty: readonly number[] | null;
}

/** A reward as an estimator sees it: by name and address. */
export interface EstimatedReward {
  readonly name: string;
  /** null: cannot be scored. */
  readonly value: number | null;
  /** Its share in the trajectory's reward; 0 where it is measured only, or read by an expression alone. */
  readonly weight: number;
  /** null: the whole trajectory. */
  readonly at: RewardAddress | null;
}

/** What an estimator sees of one trajectory. */
export interface Rewarded {
  /** Trajectories compared with each other share it; groups may have any size and order. */
  readonly groupId: string;
  /** The combined reward. null: cannot be scored. It leaves the baseline; its advantage is 0. */
  readonly reward: number | null;
  readonly rewards: readonly EstimatedReward[];
  /** For each turn the state in which it begins: what the tools last answered, as text; equal in the group at the first turn. */
  readonly states: readonly string[];
  readonly tokens: CreditTokens;
  /**
   * Where it branches off: its first `calls` calls are those of the trajectory at index `of` of the batch, which trains their tokens. null:
   * all calls are its own.
   */
  readonly branch: { readonly of: number; readonly calls: number } | null;
  /** Whether it is scored for its group's sake and not trained, such as a greedy rollout. */
  readonly isBaseline: boolean;
}

/** One number for all tokens of a trajectory, or one for each of its tokens, [n]. Numbers at untrained tokens have no effect. */
export type PlainAdvantage = number | readonly number[];

/** With what a critic or the loss reads beside it, where the estimator has such. */
export type Advantage = PlainAdvantage | DetailedAdvantage;

/** All arrays are [n]. */
export interface DetailedAdvantage {
  readonly advantages: readonly number[];
  /** Value targets (returns) per token; NaN where the critic does not learn. */
  readonly returns?: readonly number[];
  /** Fields that the loss reads by name, as `writes` lists them. */
  readonly fields?: Readonly<Record<string, readonly number[]>>;
}

/** A trajectory's advantage at one of its tokens. */
export function advantageAt(advantage: Advantage, token: number): number {
  if (typeof advantage === "number") return advantage;
  return ("advantages" in advantage ? advantage.advantages : advantage)[token] ?? 0;
}

/** Rewards made into advantages. */
export interface AdvantageEstimator extends PartWithOptions {
  readonly source: string;
  /** True when a trajectory is compared with others of its group: groups of one teach nothing. */
  readonly needsGroups: boolean;
  /** True when it compares with baselines, which a sampler must ask for. False when absent. */
  readonly needsBaselines?: boolean;
  /** Log-probabilities (beside `old`) and values that it looks at; each costs a forward pass over the batch. */
  readonly reads: readonly ("policy" | "reference" | "values")[];
  /** Names of the per-token fields that it returns for a loss; none when absent. */
  readonly writes?: readonly string[];
  /** @returns per trajectory, in order. */
  estimate(
    trajectories: readonly Rewarded[],
    options: Readonly<Record<string, unknown>>,
  ): Advantage[];
}

/** Makes an advantage estimator. @throws {ConfigError} PLUGIN_BAD_PART without estimate. */
export const defineEstimator = definer<AdvantageEstimator>()("advantage estimator", {
  defaults: { source: "", needsGroups: false, reads: [] },
  functions: {
    estimate: {
      at: 1,
      returned(advantages: Advantage[], { part, args: [trajectories] }) {
        requireAdvantages(part as AdvantageEstimator, advantages, trajectories);
        return advantages;
      },
    },
  },
});

/** A plugin in plain JavaScript can return anything. @throws {ConfigError} PLUGIN_FAILED */
function requireAdvantages(
  { name, writes = [] }: Pick<AdvantageEstimator, "name" | "writes">,
  advantages: readonly unknown[],
  trajectories: readonly Rewarded[],
): void {
  const fits = (advantage: unknown, { tokens, reward }: Rewarded): boolean => {
    // Tokens are computed when they are read.
    if (typeof advantage === "number" && writes.length === 0) return Number.isFinite(advantage);
    const { trained } = tokens;
    const given = isDetailed(advantage) ? advantage.advantages : advantage;
    const fields = isDetailed(advantage) ? advantage.fields : undefined;
    if (reward !== null && writes.some((field) => fields?.[field]?.length !== trained.length))
      return false;
    return Array.isArray(given)
      ? given.length === trained.length &&
          (reward === null ||
            trained.every((isTrained, i) => !isTrained || Number.isFinite(given[i])))
      : Number.isFinite(given);
  };
  const isComplete = Array.isArray(advantages) && advantages.length === trajectories.length;
  if (isComplete && trajectories.every((each, i) => fits(advantages[i], each))) return;
  throw new ConfigError(
    "PLUGIN_FAILED",
    `advantage estimator "${name}": estimate must return one finite number per trajectory, or one per token of it${writes.length === 0 ? "" : `, as { advantages, fields } with numbers per token for ${writes.join(", ")}`}. Correct its code.`,
  );
}

function isDetailed(advantage: unknown): advantage is DetailedAdvantage {
  return typeof advantage === "object" && advantage !== null && "advantages" in advantage;
}

/** Sample deviation (n − 1); 0 of fewer than two. */
export function sampleDeviation(values: readonly number[]): number {
  return values.length < 2 ? 0 : Math.sqrt(sampleVariance(values));
}

/**
 * True when there is nothing to compare: no two numbers differ. Estimators test it before they subtract a mean, whose rounding
 * would leave dust where 0 is meant.
 */
export function allEqual(values: readonly number[]): boolean {
  return values.every((each) => each === values[0]);
}
