import type { Trajectory } from "./trajectory.ts";

/** Searches that were run in a trajectory. */
export function searchCount({ turns }: Pick<Trajectory, "turns">): number {
  return turns.reduce(
    (sum, { observations }) => sum + observations.filter(({ tool }) => tool === "search").length,
    0,
  );
}
