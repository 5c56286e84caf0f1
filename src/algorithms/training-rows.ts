import type { CreditTokens } from "../advantages/estimator.ts";
import { type TrainingRow, temperatureField } from "../engine/engine.ts";
import { blockPattern } from "../rewards/block-texts.ts";
import { tokenSpan } from "../rollout/cut-tokens.ts";
import type { Tokenizer } from "../text/tokenizer.ts";
import { type Owner, type Trajectory, tokenRows } from "../trajectory/trajectory.ts";

/** A row of a trajectory, pre-shifted, with what was known when it was sampled; weights are still to be set. */
export interface PolicyRow {
  trajectory: Trajectory;
  inputs: number[];
  targets: number[];
  /** Who wrote each target. */
  owners: Owner[];
  /** Of each target, its index among the trajectory's tokens (`tokensOf`). */
  tokens: number[];
  /** 1 where the target is trained. A token that several rows share is trained in one of them. */
  lossMask: number[];
  /** 1 where the target comes after the first prompt of its sequence, the environment's too; in one row if several share it. */
  response: number[];
  /** Of each target as sampled, nats; NaN where it was not. */
  sampledLogprobs: number[];
  /** Of each target, the temperature of its call. */
  temperatures: number[];
  /** Trained tokens. */
  trainedTokens: number;
}

export interface RowOptions {
  /** Whose tokens are trained: the policy's alone, unless a control arm says otherwise. */
  lossOn?: readonly Owner[];
  /** Blocks of the policy's own whose tokens are not trained. */
  outside?: { tags: readonly string[]; tokenizer: Tokenizer | undefined };
  /** The role that is trained: calls of other models, such as a sub-agent's, are context. Any when absent. */
  role?: string;
}

/**
 * Sequences to train on: one for each call that no other continues. Trained are the tokens of `lossOn` in completions and replies of the
 * trained role's calls, each once. Messages that were tried and dropped are not trained, and neither are calls that the trajectory
 * shares with one that it branched off from.
 */
export function policyRows(trajectory: Trajectory, options: RowOptions = {}): PolicyRow[] {
  const { lossOn = ["policy"] } = options;
  const { ofCall, inResponse } = tokenLayout(trajectory);
  const isTrainedCall = trainedCalls(trajectory, options);
  const outside = tokensInBlocks(trajectory, ofCall, options.outside);
  const rows = tokenRows(trajectory).map((row) => {
    const tokens = row.calls.flatMap((call) => ofCall[call] ?? []);
    const isTrained = row.owners.map(
      (owner, i) =>
        lossOn.includes(owner) &&
        isTrainedCall[row.callOf[i] ?? 0] === true &&
        !outside.has(tokens[i] ?? -1),
    );
    return { ...row, tokens, isTrained };
  });
  // Most trajectories are one row, which trains all of its tokens.
  const trainedIn = rows.length > 1 ? firstRows(rows) : null;
  return rows.map(({ ids, owners, callOf, logprobs, temperatures, tokens, isTrained }, r) => {
    // The first token of a sequence is predicted by nothing.
    const once = (flags: readonly boolean[]): number[] =>
      tokens
        .map((token, i) =>
          Number(flags[i] === true && (trainedIn === null || trainedIn.get(token) === r)),
        )
        .slice(1);
    const lossMask = once(isTrained);
    return {
      trajectory,
      inputs: ids.slice(0, -1),
      targets: ids.slice(1),
      owners: owners.slice(1),
      tokens: tokens.slice(1),
      lossMask,
      response: once(
        tokens.map(
          (token, i) => inResponse[token] === true && isTrainedCall[callOf[i] ?? 0] === true,
        ),
      ),
      sampledLogprobs: logprobs.slice(1),
      temperatures: temperatures.slice(1),
      trainedTokens: lossMask.reduce((sum, each) => sum + each, 0),
    };
  });
}

/** The row in which each token is trained: of those that share it the one that trains most, so that fewer rows are needed. */
function firstRows(
  rows: readonly { tokens: readonly number[]; isTrained: readonly boolean[] }[],
): Map<number, number> {
  const counts = rows.map(({ isTrained }) => isTrained.filter(Boolean).length);
  const order = rows.map((_, r) => r).sort((a, b) => (counts[b] ?? 0) - (counts[a] ?? 0));
  const found = new Map<number, number>();
  for (const r of order) {
    for (const token of rows[r]?.tokens ?? []) if (!found.has(token)) found.set(token, r);
  }
  return found;
}

/** The tokens of a trajectory with those that its rows train; what a run computes of them is filled in by the loop. */
export function tokensOf(
  trajectory: Trajectory,
  rows: readonly PolicyRow[],
): Omit<CreditTokens, "logprobs" | "values" | "penalty"> {
  const { ofCall: _, inResponse: __, ...layout } = tokenLayout(trajectory);
  const trained = layout.call.map(() => false);
  for (const { tokens, lossMask } of rows) {
    lossMask.forEach((mask, i) => {
      if (mask === 1) trained[tokens[i] ?? 0] = true;
    });
  }
  const answered = trajectory.turns.find(({ observations }) => observations.length > 0);
  return { ...layout, trained, firstResult: answered?.call ?? null };
}

/**
 * A trajectory's tokens, each once, in the order of its calls.
 * @returns `ofCall`: of each call, the indices of its tokens; `inResponse`: whether a token comes after the first prompt of its sequence.
 */
function tokenLayout({ calls, turns }: Trajectory) {
  const turnOf = new Map(turns.map(({ call }, index) => [call, index]));
  const call: number[] = [];
  const place: number[] = [];
  const turn: number[] = [];
  const owner: Owner[] = [];
  const previous: number[] = [];
  const ofCall: number[][] = [];
  calls.forEach(({ prompt, completion, parent }, index) => {
    const own: number[] = [];
    const before = parent === null ? -1 : (ofCall[parent]?.at(-1) ?? -1);
    let at = -prompt.reduce((sum, { ids }) => sum + ids.length, 0);
    for (const segment of [...prompt, ...completion]) {
      for (const _ of segment.ids) {
        previous.push(own.at(-1) ?? before);
        own.push(call.length);
        call.push(index);
        place.push(Math.max(at, -1));
        turn.push(turnOf.get(index) ?? -1);
        owner.push(segment.owner);
        at += 1;
      }
    }
    ofCall.push(own);
  });
  const inResponse: boolean[] = [];
  place.forEach((at, i) => inResponse.push(at >= 0 || inResponse[previous[i] ?? -1] === true));
  return { previous, call, place, turn, owner, ofCall, inResponse };
}

/** Of each call, whether its tokens may be trained. */
function trainedCalls({ calls, turns, branch }: Trajectory, { role }: RowOptions): boolean[] {
  const dropped = new Set(turns.flatMap(({ call, dropped }) => (dropped === true ? [call] : [])));
  return calls.map(
    (call, index) =>
      (role === undefined || call.role === role) &&
      !dropped.has(index) &&
      index >= (branch?.calls ?? 0),
  );
}

/** Tokens, by index, with which turns wrote blocks of some tags. @param ofCall of each call, the indices of its tokens. */
function tokensInBlocks(
  { calls, turns }: Trajectory,
  ofCall: readonly (readonly number[])[],
  { tags, tokenizer }: NonNullable<RowOptions["outside"]> = { tags: [], tokenizer: undefined },
): Set<number> {
  const found = new Set<number>();
  const patterns = tags.map((tag) => new RegExp(blockPattern(tag), "gs"));
  if (tokenizer === undefined || patterns.length === 0) return found;
  for (const { call, text } of turns) {
    const ids = calls[call]?.completion.flatMap((each) => each.ids) ?? [];
    const written = ofCall[call]?.slice(-ids.length) ?? [];
    for (const match of patterns.flatMap((each) => [...text.matchAll(each)])) {
      const characters = [match.index, match.index + match[0].length] as const;
      const span = tokenSpan(ids, text, characters, tokenizer);
      const tokens = span === null ? [] : written.slice(span.token, span.endToken);
      for (const token of tokens) found.add(token);
    }
  }
  return found;
}

/** Of each target, how many trained targets of its row come before it: losses find a row's tokens by it. */
export function rowOffsets(lossMask: readonly number[]): number[] {
  let count = 0;
  return lossMask.map((mask) => (mask === 1 ? count++ : 0));
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

/** As `weighted`, with log-probabilities at the temperature of the draw: for losses that compare them with sampled ones. */
export function asSampled(...[row, weight, fields]: Parameters<typeof weighted>): TrainingRow {
  return weighted(row, weight, { ...fields, ...temperatureField(row.temperatures) });
}

/** 0 for NaN, which marks targets without a number: graphs take none. */
export function finite(value: number): number {
  return Number.isNaN(value) ? 0 : value;
}
