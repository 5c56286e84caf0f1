import type { Observation, Trajectory } from "./trajectory.ts";

/** How many of a question's gold passages a trajectory showed, each counted once. */
export interface GoldShown {
  /** In the first prompt. */
  given: number;
  after: number[];
}

/** @param gold ids of the gold passages. */
export function goldShown(
  { turns, given = [] }: Pick<Trajectory, "turns" | "given">,
  gold: Iterable<string>,
): GoldShown {
  const missing = new Set(gold);
  const all = missing.size;
  const show = (observations: readonly Observation[]): number => {
    for (const id of observations.flatMap(({ passageIds = [] }) => passageIds)) missing.delete(id);
    return all - missing.size;
  };
  return { given: show(given), after: turns.map(({ observations }) => show(observations)) };
}
