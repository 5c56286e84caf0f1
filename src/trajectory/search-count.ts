import { type Observation, type Trajectory, withInnerCalls } from "./trajectory.ts";

/** Whether an observation comes from a search tool of any name. */
export function isSearch({ tool, passageIds }: Observation): boolean {
  return tool === "search" || passageIds !== undefined;
}

/** Searches that were run in a trajectory. */
export function searchCount({ turns }: Pick<Trajectory, "turns">): number {
  const all = turns.flatMap(({ observations }) => observations.flatMap(withInnerCalls));
  return all.filter(isSearch).length;
}
