import type { TrainingRow } from "../engine/engine.ts";
import { policyTokenCount, tokenRows } from "../trajectory/token-rows.ts";
import type { Owner, Trajectory } from "../trajectory/trajectory.ts";

/** A row of a trajectory, pre-shifted, with what was known when it was sampled; weights are still to be set. */
export interface PolicyRow {
  trajectory: Trajectory;
  inputs: number[];
  targets: number[];
  /** Who wrote each target. */
  owners: Owner[];
  /** Of each target, its number among all that the policy wrote in this trajectory, call by call; −1 where it did not. */
  policyIndex: number[];
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
  const firstOfCall = firstPolicyTokens(trajectory);
  return tokenRows(trajectory).map(({ ids, owners, logprobs, callOf }) => {
    const written = new Map<number, number>();
    const policyIndex = owners.map((owner, i) => {
      if (owner !== "policy") return -1;
      const call = callOf[i] ?? 0;
      const before = written.get(call) ?? 0;
      written.set(call, before + 1);
      return (firstOfCall[call] ?? 0) + before;
    });
    const lossMask = owners.slice(1).map((owner) => (lossOn.includes(owner) ? 1 : 0));
    return {
      trajectory,
      inputs: ids.slice(0, -1),
      targets: ids.slice(1),
      owners: owners.slice(1),
      policyIndex: policyIndex.slice(1),
      lossMask,
      sampledLogprobs: logprobs.slice(1),
      trainedTokens: lossMask.reduce<number>((sum, each) => sum + each, 0),
    };
  });
}

/** How many tokens the policy had written before each call. */
function firstPolicyTokens({ calls }: Trajectory): number[] {
  let count = 0;
  return calls.map((call) => {
    const before = count;
    count += policyTokenCount({ calls: [call] });
    return before;
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
