import type { CreditTokens } from "../advantages/estimator.ts";
import { once } from "../base/once.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import { type PolicyRow, tokensOf } from "./training-rows.ts";

/** A row with the log-probabilities of its targets; null where nothing reads them. */
export interface ScoredRow extends PolicyRow {
  logprobs: Record<keyof CreditTokens["logprobs"], ArrayLike<number> | null>;
  /** The critic's values of its targets, NaN in first prompts; null without a critic. */
  values: readonly number[] | null;
}

/**
 * A trajectory's tokens as estimators see them, each part computed when it is first read: most estimators read rewards alone, and all
 * parts together are as large as the rows.
 * @param penaltyOf what is subtracted from the reward at each token; null: nothing.
 */
export function creditTokens(
  trajectory: Trajectory,
  rows: readonly ScoredRow[],
  penaltyOf: (logprobs: CreditTokens["logprobs"]) => number[] | null,
): CreditTokens {
  const structure = once(() => tokensOf(trajectory, rows));
  const logprobsOf = (kind: keyof ScoredRow["logprobs"]): (() => number[] | null) =>
    once(() => byToken(structure, rows, "lossMask", (row) => row.logprobs[kind]));
  const [old, reference, policy] = (["old", "reference", "policy"] as const).map(logprobsOf);
  const logprobs: CreditTokens["logprobs"] = {
    get old() {
      return old?.() ?? null;
    },
    get reference() {
      return reference?.() ?? null;
    },
    get policy() {
      return policy?.() ?? null;
    },
  };
  const values = once(() => byToken(structure, rows, "response", (row) => row.values));
  const penalty = once(() => penaltyOf(logprobs));
  return {
    get previous() {
      return structure().previous;
    },
    get call() {
      return structure().call;
    },
    get place() {
      return structure().place;
    },
    get turn() {
      return structure().turn;
    },
    get owner() {
      return structure().owner;
    },
    get firstResult() {
      return structure().firstResult;
    },
    get trained() {
      return structure().trained;
    },
    logprobs,
    get values() {
      return values();
    },
    get penalty() {
      return penalty();
    },
  };
}

/**
 * Numbers of rows' targets by token of the trajectory, NaN where `mask` is 0; null where no row has them.
 * @param mask of a row, 1 at the targets that it has numbers for.
 */
function byToken(
  structure: () => Pick<CreditTokens, "call">,
  rows: readonly ScoredRow[],
  mask: "lossMask" | "response",
  numbersOf: (row: ScoredRow) => ArrayLike<number> | null,
): number[] | null {
  if (rows.every((row) => numbersOf(row) === null)) return null;
  const found = structure().call.map(() => NaN);
  for (const row of rows) {
    const numbers = numbersOf(row);
    row.tokens.forEach((token, i) => {
      if (row[mask][i] === 1) found[token] = numbers?.[i] ?? NaN;
    });
  }
  return found;
}
