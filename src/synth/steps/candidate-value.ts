import { random } from "../../base/random.ts";
import type { Candidate } from "../../trajectory/sample.ts";

/** A candidate and the number that it is compared by. */
export interface ValuedCandidate {
  candidate: Candidate;
  value: number;
}

/**
 * The candidates that have a number of that name, with it, in an order that the seed draws: whoever sorts them by it decides ties by
 * the seed, and not by which was drawn first.
 * @param by `reward`, or the name of a score.
 */
export function valuedCandidates(
  candidates: readonly Candidate[],
  { by, seed, taskId }: { by: string; seed: number; taskId: string },
): ValuedCandidate[] {
  const valued = candidates.flatMap((candidate) => {
    const value = by === "reward" ? candidate.trajectory.reward : (candidate.scores[by] ?? null);
    return value === null ? [] : [{ candidate, value }];
  });
  return random(seed).derive("ties", taskId).shuffle(valued);
}
