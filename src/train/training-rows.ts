import type { TrainingRow } from "../engine/engine.ts";
import { tokenRows } from "../trajectory/token-rows.ts";
import type { Owner, Trajectory } from "../trajectory/trajectory.ts";

/** A row of a trajectory, pre-shifted, with what was known when it was sampled; weights are still to be set. */
export interface PolicyRow {
  trajectory: Trajectory;
  inputs: number[];
  targets: number[];
  /** Who wrote each target. */
  owners: Owner[];
  /** 1 where the target is trained. */
  lossMask: number[];
  /** Of each target as sampled, nats; NaN where it was not. */
  sampledLogprobs: number[];
  /** Trained tokens. */
  trainedTokens: number;
}

/**
 * Sequences to train on.
 * @param lossOn whose tokens are trained: the policy's alone, unless a control arm says otherwise.
 */
export function policyRows(trajectory: Trajectory, lossOn: readonly Owner[]): PolicyRow[] {
  return tokenRows(trajectory).map(({ ids, owners, logprobs }) => {
    const lossMask = owners.slice(1).map((owner) => (lossOn.includes(owner) ? 1 : 0));
    return {
      trajectory,
      inputs: ids.slice(0, -1),
      targets: ids.slice(1),
      owners: owners.slice(1),
      lossMask,
      sampledLogprobs: logprobs.slice(1),
      trainedTokens: lossMask.reduce<number>((sum, each) => sum + each, 0),
    };
  });
}

/** The row as an engine takes it: every trained token gets `weight`; other fields are given per token. */
export function weighted(
  row: PolicyRow,
  weight: number,
  fields: Readonly<Record<string, readonly number[]>> = {},
): TrainingRow {
  const weights = row.lossMask.map((mask) => mask * weight);
  return { inputs: row.inputs, targets: row.targets, fields: { ...fields, weights } };
}
