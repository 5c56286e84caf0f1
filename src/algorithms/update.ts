import { groupedBy } from "../base/grouped-by.ts";
import { mapInTurns } from "../base/in-turns.ts";
import { random } from "../base/random.ts";
import type { ForwardBackwardResult } from "../engine/engine.ts";
import type { LossSpec } from "../losses/loss.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import { lossesOf } from "./algorithm.ts";
import { readyRows, type ReadyRow, type UpdateRun } from "./batch-rows.ts";
import {
  criticMetrics,
  criticOptimizer,
  criticStep,
  joinedLoss,
  requireOwnTokens,
  valueFields,
} from "./critic.ts";
import { filters } from "./filters/index.ts";
import { tokenWeights } from "./loss-aggregation.ts";
import { adamAt } from "./optimizer-settings.ts";
import { mismatchKl } from "./rollout-metrics.ts";
import type { RolloutGroup } from "./scored-group.ts";
import { asSampled, rowOffsets } from "./training-rows.ts";

/**
 * Learns from a batch: filters on raw scores, rows, log-probabilities, advantages, losses, optimiser steps.
 *
 * @param step from 0.
 * @returns metrics by name, the number of tokens that the trainer computed, and the coefficient of `klReward` for the next step.
 */
export async function updateOn(
  run: UpdateRun,
  step: number,
  trajectories: readonly Trajectory[],
): Promise<{ metrics: Record<string, number>; trained: number; klCoef?: number }> {
  const { algorithm, options, engine, seed } = run;
  const critic = algorithm.critic?.(options) ?? null;
  const losses = lossesOf(algorithm, options);
  const { batch: kept, metrics } = filtered(run, trajectories);
  const { rows, kl } = await readyRows(run, step, kept, { losses, critic });
  Object.assign(metrics, kl.metrics, critic === null ? {} : criticMetrics(rows));
  const add = (name: string, value: number): void => {
    metrics[name] = (metrics[name] ?? 0) + value;
  };
  const updates = options.epochs * options.minibatches;
  let trained = 0;
  for (let epoch = 0; epoch < options.epochs; epoch++) {
    const order = random(seed).derive("minibatches", step, epoch).shuffle(rows);
    for (let part = 0; part < options.minibatches; part++) {
      const batch = order.filter((_, i) => i % options.minibatches === part);
      if (batch.length === 0) continue;
      const number = (step * options.epochs + epoch) * options.minibatches + part;
      const progress = [number, options.steps * updates] as const;
      const lowered = run.learningRateFactor ?? 1;
      if (critic?.trunk === "own") {
        const { settings, factor } = criticOptimizer(critic, options.optimizer);
        const adam = adamAt(settings, ...progress, lowered * factor);
        const learned = await criticStep(engine, batch, critic, adam);
        trained += learned.trained;
        for (const [name, value] of Object.entries(learned.metrics)) add(name, value / updates);
        if (step < critic.warmup) continue;
      }
      for (const [l, plain] of losses.entries()) {
        const loss = l === 0 ? joinedLoss(plain, critic) : plain;
        const result = await forwardBackward(run, batch, loss);
        trained += batch.reduce((sum, row) => sum + row.inputs.length, 0);
        if (epoch === 0 && part === 0 && l === 0)
          metrics["mismatch/kl"] = mismatchKl(batch, result.logprobs);
        add(l === 0 ? "losses/policy" : `losses/${loss.name}`, result.loss / updates);
        for (const [name, value] of Object.entries(result.metrics)) add(name, value / updates);
      }
      const adam = adamAt(options.optimizer, ...progress, lowered);
      const { gradNorm } = await engine.optimStep(adam);
      add("optimizer/grad_norm", gradNorm / updates);
      metrics["optimizer/learning_rate"] = adam.learningRate;
    }
  }
  return { metrics, trained, klCoef: kl.coef };
}

/** The trajectories whose groups pass every filter; baselines and others that are not trained stay, for their groups' sake. */
function filtered(
  { options }: UpdateRun,
  trajectories: readonly Trajectory[],
): { batch: readonly Trajectory[]; metrics: Record<string, number> } {
  if (options.filters.length === 0) return { batch: trajectories, metrics: {} };
  const groups: RolloutGroup[] = [...groupedBy(trajectories, ({ groupId }) => groupId)].map(
    ([groupId, members]) => ({ groupId, trajectories: members }),
  );
  let kept: readonly RolloutGroup[] = groups;
  for (const { name, ...given } of options.filters) {
    kept = filters.get(name, "algorithm.filters").keep(kept, given);
  }
  const once = new Set(kept);
  const ids = new Set([...once].map(({ groupId }) => groupId));
  const again = kept.flatMap((group, i) => (kept.indexOf(group) < i ? copyOf(group, i) : []));
  return {
    batch: [...trajectories.filter(({ groupId }) => ids.has(groupId)), ...again],
    metrics: { "filters/kept_share": groups.length === 0 ? 0 : once.size / groups.length },
  };
}

/** A group's trajectories once more, under ids of their own, so that they are compared with each other alone. */
function copyOf({ groupId, trajectories }: RolloutGroup, number: number): Trajectory[] {
  const named = (id: string): string => `${id}+${number}`;
  return trajectories.map((each) => ({
    ...each,
    id: named(each.id),
    groupId: named(groupId),
    ...(each.branch === undefined ? {} : { branch: { ...each.branch, of: named(each.branch.of) } }),
  }));
}

async function forwardBackward(
  { engine, options: { lossAggregation, fixedLength } }: UpdateRun,
  batch: readonly ReadyRow[],
  loss: LossSpec,
): Promise<ForwardBackwardResult> {
  requireOwnTokens(loss, batch);
  const tokens = batch.map((row) => row.trainedTokens);
  const weights = tokenWeights(lossAggregation, tokens, fixedLength);
  const valued = loss.joined === undefined ? null : valueFields(batch);
  const rows = await mapInTurns(batch, (row, i) => {
    const { advantages, oldLogprobs, refLogprobs } = row;
    const sampledLogprobs = row.sampledLogprobs.map((sampled, t) =>
      Number.isNaN(sampled) ? (oldLogprobs[t] ?? 0) : sampled,
    );
    const offsets = { rowOffsets: rowOffsets(row.lossMask) };
    const fields = {
      ...row.own,
      advantages,
      oldLogprobs,
      sampledLogprobs,
      refLogprobs,
      ...offsets,
      ...valued?.[i],
    };
    return asSampled(row, weights[i] ?? 0, fields);
  });
  return engine.forwardBackward(rows, loss);
}
