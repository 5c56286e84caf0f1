import type { Observation, Trajectory } from "./trajectory.ts";

/** Whether an observation comes from a search tool of any name. */
export function isSearch({ tool, passageIds }: Observation): boolean {
  return tool === "search" || passageIds !== undefined;
}

/** Searches that were run in a trajectory. */
export function searchCount({ turns }: Pick<Trajectory, "turns">): number {
  return turns.reduce((sum, { observations }) => sum + observations.filter(isSearch).length, 0);
}
