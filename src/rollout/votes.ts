import { exactMatch } from "../text/answers.ts";

/** The majority of votes. */
export interface Majority {
  /** Index of the first vote for it; null without votes. */
  first: number | null;
  votes: number;
}

/**
 * The most frequent vote, null being none; the earliest wins a tie.
 * @example majority(["a", null, "b", "b"], (a, b) => a === b) // { first: 2, votes: 2 }
 */
export function majority<T>(
  ballots: readonly (T | null)[],
  same: (left: T, right: T) => boolean,
): Majority {
  let best: Majority = { first: null, votes: 0 };
  ballots.forEach((ballot, first) => {
    if (ballot === null) return;
    const votes = ballots.filter((each) => each !== null && same(ballot, each)).length;
    if (votes > best.votes) best = { first, votes };
  });
  return best;
}

/**
 * The most frequent answer after the "squad" normalisation, as first spelt; `confidence`: its share of all draws.
 * @example voteOn(["Oslo", "the oslo", null, "Lima"]) // { answer: "Oslo", confidence: 0.5 }
 */
export function voteOn(answers: readonly (string | null)[]): {
  answer: string | null;
  confidence: number;
} {
  const { first, votes } = majority(answers, (left, right) => exactMatch(left, [right]) === 1);
  const answer = first === null ? null : (answers[first] ?? null);
  return { answer, confidence: votes / answers.length };
}
