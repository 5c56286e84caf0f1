import { isSearch } from "./search-count.ts";
import type { Trajectory } from "./trajectory.ts";

/** What was searched for in a trajectory, in order. The observations of a turn answer its actions in order. */
export function searchQueries({ turns }: Pick<Trajectory, "turns">): string[] {
  return turns.flatMap(({ actions, observations }) => {
    const asked = actions.filter(({ tool }) => tool !== "answer");
    return observations.flatMap((observation, i) =>
      isSearch(observation) ? [asked[i]?.input ?? ""] : [],
    );
  });
}
