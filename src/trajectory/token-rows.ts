import type { Call, Owner, Segment, Trajectory } from "./trajectory.ts";

/** One sequence as the model saw it, with the owner of each token. */
export interface TokenRow {
  calls: number[];
  ids: number[];
  owners: Owner[];
  /** At sampling, nats; NaN for tokens that were not sampled. */
  logprobs: number[];
  /** Of the call of each token. */
  temperatures: number[];
  /** Which call each token belongs to. */
  callOf: number[];
}

/** The token sequences of a trajectory: one for each call that no other call continues; branches share their prefix. */
export function tokenRows(trajectory: Pick<Trajectory, "calls">): TokenRow[] {
  const { calls } = trajectory;
  const continued = new Set(calls.map(({ parent }) => parent));
  return calls.flatMap((_, index) => {
    if (continued.has(index)) return [];
    const row: TokenRow = {
      calls: chainTo(calls, index),
      ids: [],
      owners: [],
      logprobs: [],
      temperatures: [],
      callOf: [],
    };
    for (const call of row.calls) {
      const { prompt = [], completion = [], temperature = 1 } = calls[call] ?? {};
      for (const segment of [...prompt, ...completion]) append(row, segment, { call, temperature });
    }
    return [row];
  });
}

/** All tokens of a call's sequence: its parents', its prompt and its completion. */
export function sequenceIds(calls: readonly Call[], index: number): number[] {
  return chainTo(calls, index).flatMap((each) => {
    const { prompt = [], completion = [] } = calls[each] ?? {};
    return [...prompt, ...completion].flatMap(({ ids }) => ids);
  });
}

/** Number of tokens that the policy wrote: recorded ids, or a remote server's own count. */
export function policyTokenCount(trajectory: Pick<Trajectory, "calls">): number {
  let count = 0;
  for (const { completion, usage } of trajectory.calls) {
    count += usage?.completionTokens ?? 0;
    for (const { owner, ids } of completion) if (owner === "policy") count += ids.length;
  }
  return count;
}

function chainTo(calls: readonly Call[], index: number): number[] {
  const chain: number[] = [];
  for (let at: number | null = index; at !== null; at = calls[at]?.parent ?? null)
    chain.unshift(at);
  return chain;
}

function append(
  row: TokenRow,
  { owner, ids, logprobs }: Segment,
  { call, temperature }: { call: number; temperature: number },
): void {
  ids.forEach((id, i) => {
    row.ids.push(id);
    row.owners.push(owner);
    row.logprobs.push(logprobs?.[i] ?? NaN);
    row.temperatures.push(temperature);
    row.callOf.push(call);
  });
}
