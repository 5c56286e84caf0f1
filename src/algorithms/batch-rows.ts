import {
  type Advantage,
  advantageAt,
  type AdvantageEstimator,
  type CreditTokens,
  type Rewarded,
} from "../advantages/estimator.ts";
import { advantageEstimators } from "../advantages/index.ts";
import { mapInTurns } from "../base/in-turns.ts";
import type { Engine } from "../engine/engine.ts";
import { needsReference } from "../losses/index.ts";
import type { LossSpec } from "../losses/loss.ts";
import { type Scoring, type WeightedReward, weightsAt } from "../rollout/score.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import {
  estimatorOf,
  type OnPolicyAlgorithm,
  type OnPolicyOptions,
  recomputesOld,
} from "./algorithm.ts";
import { type CriticSettings, type ValuedRow, valuesOf } from "./critic.ts";
import { creditTokens, type ScoredRow } from "./credit-tokens.ts";
import { adaptedCoef, batchKl, type KlRewardSettings } from "./kl-reward.ts";
import { ownField, ownFieldNames } from "./own-fields.ts";
import { asSampled, finite, policyRows, type PolicyRow } from "./training-rows.ts";

/** What an update needs to know of its run. */
export interface UpdateRun {
  algorithm: OnPolicyAlgorithm;
  /** As they are at this step, without schedules. */
  options: OnPolicyOptions;
  engine: Engine;
  rewards: readonly WeightedReward[];
  scoring?: Pick<Scoring, "expression" | "tokenizer">;
  seed: number;
  /** 1 when absent. */
  learningRateFactor?: number;
  /** β of `klReward` at this step; the recipe's when absent. */
  klCoef?: number;
}

/** A row with what its losses read, per target; 0 where it is not trained. Without a critic, values and returns are empty. */
export interface ReadyRow extends ValuedRow {
  advantages: number[];
  oldLogprobs: readonly number[];
  refLogprobs: readonly number[];
  /** What the losses read beside the fields of every batch. */
  own: Record<string, number[]>;
}

/** What KL in the reward came to in a batch; empty without it. */
interface KlOutcome {
  metrics: Record<string, number>;
  /** For the next batch. */
  coef?: number;
}

/** Rows of a batch with their advantages: log-probabilities are computed first, since estimators read them. */
export async function readyRows(
  run: UpdateRun,
  step: number,
  trajectories: readonly Trajectory[],
  asked: { losses: readonly LossSpec[]; critic: CriticSettings | null },
): Promise<{ rows: ReadyRow[]; kl: KlOutcome }> {
  const named = estimatorOf(run.algorithm, run.options);
  const estimator = advantageEstimators.get(named.name, "algorithm.advantage");
  const rowsOf = await scoredRows(run, trajectories, { ...asked, reads: estimator.reads });
  const { klReward } = run.options;
  const klCoef = run.klCoef ?? klReward?.coef ?? 0;
  const time = { step, totalSteps: run.options.steps };
  const weights = weightsAt(run.rewards, time);
  const rewarded = await mapInTurns(trajectories, (trajectory, i) => {
    const own = rowsOf[i] ?? [];
    const tokens = creditTokens(trajectory, own, (logprobs) =>
      klReward === undefined ? null : klPenalties(logprobs, klCoef),
    );
    return rewardedOf(trajectory, trajectories, weights, tokens);
  });
  const estimated = estimator.estimate(rewarded, named.options);
  const names = ownFieldNames(asked.losses);
  const ownOf = rewarded.map((each, i) =>
    names.map((name) => [name, ownField(each, estimated[i], name)] as const),
  );
  const ready = await mapInTurns(rowsOf, (own, i) =>
    own.map(({ logprobs, values, ...row }) => ({
      ...row,
      ...credited(row, estimated[i] ?? 0),
      own: Object.fromEntries(
        (ownOf[i] ?? []).map(([name, numbers]) => [
          name,
          row.lossMask.map((mask, t) => (mask === 1 ? (numbers[row.tokens[t] ?? 0] ?? 0) : 0)),
        ]),
      ),
      values: values ?? [],
      oldLogprobs: Array.from(logprobs.old ?? [], finite),
      refLogprobs: Array.from(logprobs.reference ?? [], finite),
    })),
  );
  const kl = klReward === undefined ? { metrics: {} } : klOutcome(rewarded, klCoef, klReward);
  return { rows: ready.flat(), kl };
}

/** What KL costs at each trained token: β (log π_old − log π_ref). */
function klPenalties({ old, reference }: CreditTokens["logprobs"], coef: number): number[] | null {
  if (old === null || reference === null) return null;
  return old.map((each, i) => finite(coef * (each - (reference[i] ?? NaN))));
}

function klOutcome(
  rewarded: readonly Rewarded[],
  coef: number,
  settings: KlRewardSettings,
): KlOutcome {
  const batch = rewarded.map(({ tokens: { logprobs } }) => ({
    old: logprobs.old ?? [],
    reference: logprobs.reference ?? [],
  }));
  const kl = batchKl(batch);
  return {
    metrics: { "reward/kl": kl, "reward/kl_coef": coef },
    coef: adaptedCoef(coef, settings, { kl, trajectories: batch.length }),
  };
}

/** The rows to train of each trajectory. Those that cannot be scored, and rollouts that are not for training, have none. */
async function scoredRows(
  { options, engine, scoring }: UpdateRun,
  trajectories: readonly Trajectory[],
  {
    losses,
    critic,
    reads,
  }: { losses: readonly LossSpec[]; critic: CriticSettings | null } & Pick<
    AdvantageEstimator,
    "reads"
  >,
): Promise<ScoredRow[][]> {
  const rowsOf = await mapInTurns(trajectories, (trajectory) =>
    trajectory.reward === null || trajectory.purpose !== "train"
      ? []
      : policyRows(trajectory, {
          lossOn: options.lossOn,
          outside: { tags: options.lossOutside, tokenizer: scoring?.tokenizer },
          role: "policy",
        }).filter(({ trainedTokens }) => trainedTokens > 0),
  );
  const rows = rowsOf.flat();
  if (rows.length === 0) return rowsOf.map(() => []);
  const unweighted = await mapInTurns(rows, (row) => asSampled(row, 1));
  const recomputes = recomputesOld(options) || rows.some(hasUnsampled);
  const reference =
    options.klReward !== undefined || losses.some(needsReference) || reads.includes("reference");
  const now = recomputes || reads.includes("policy") ? await engine.logprobs(unweighted) : null;
  const frozen = reference ? await engine.logprobs(unweighted, "reference") : null;
  const values = critic === null ? null : await valuesOf(engine, rows);
  let at = -1;
  return rowsOf.map((own) =>
    own.map((row) => {
      at += 1;
      const policy = now?.[at] ?? null;
      const old = recomputes ? policy : row.sampledLogprobs;
      const logprobs = { old, policy, reference: frozen?.[at] ?? null };
      return { ...row, logprobs, values: values?.[at] ?? null };
    }),
  );
}

/** Whether it trains tokens that the policy did not sample as they stand, such as a message that was rewritten. */
function hasUnsampled({ lossMask, sampledLogprobs }: PolicyRow): boolean {
  return lossMask.some((mask, i) => mask === 1 && Number.isNaN(sampledLogprobs[i]));
}

/** A trajectory as an estimator sees it. */
export function rewardedOf(
  { groupId, reward, rewards: values, branch, purpose, turns }: Trajectory,
  batch: readonly Trajectory[],
  weights: ReadonlyMap<string, number>,
  tokens: CreditTokens,
): Rewarded {
  const of = branch === undefined ? -1 : batch.findIndex(({ id }) => id === branch.of);
  return {
    groupId,
    reward,
    tokens,
    states: turns.map((_, i) => (i === 0 ? "" : answeredBy(turns[i - 1]))),
    isBaseline: purpose === "baseline",
    rewards: values.map((each) => ({ ...each, weight: weights.get(each.name) ?? 0 })),
    branch: branch === undefined || of < 0 ? null : { of, calls: branch.calls },
  };
}

/** What the tools answered to a message, as one text. */
function answeredBy(turn: Trajectory["turns"][number] | undefined): string {
  return JSON.stringify(turn?.observations.map(({ text }) => text));
}

/** A trajectory's advantages, and what its critic learns, on the targets of one of its rows. */
function credited(
  { lossMask, response, tokens }: PolicyRow,
  advantage: Advantage,
): Pick<ReadyRow, "advantages" | "returns"> {
  const { returns = [] } =
    typeof advantage === "object" && "advantages" in advantage ? advantage : {};
  return {
    advantages: lossMask.map((mask, i) =>
      mask === 1 ? advantageAt(advantage, tokens[i] ?? 0) : 0,
    ),
    returns: response.map((mask, i) => (mask === 1 ? (returns[tokens[i] ?? 0] ?? NaN) : NaN)),
  };
}
