import { isSearch } from "./search-count.ts";
import type { InnerCall, Trajectory } from "./trajectory.ts";

/** What was searched for in a trajectory, in order, by tools for a call too. The observations of a turn answer its actions in order. */
export function searchQueries({ turns }: Pick<Trajectory, "turns">): string[] {
  return turns.flatMap(({ actions, observations }) => {
    const asked = actions.filter(({ tool }) => tool !== "answer");
    return observations.flatMap((observation, i) =>
      queriesOf({ ...observation, input: asked[i]?.input ?? "" }),
    );
  });
}

function queriesOf(call: InnerCall): string[] {
  return [...(isSearch(call) ? [call.input] : []), ...(call.calls ?? []).flatMap(queriesOf)];
}
