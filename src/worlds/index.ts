import { type Registry, registry } from "../base/registry.ts";
import type { World } from "../env/world.ts";
import { bandit } from "./bandit/index.ts";
import { counting } from "./counting/index.ts";
import { knights } from "./knights/index.ts";
import { frozenLake } from "./lake/index.ts";
import { numbers } from "./numbers/index.ts";
import { tiny } from "./tiny/index.ts";

/** All worlds. The first is the default of lessons. */
export const worlds: Registry<World> = registry("world", [
  tiny,
  numbers,
  counting,
  knights,
  frozenLake,
  bandit,
]);

/** Queries for a step of a world's question in other words than the step's. */
export function stepQueries(step: string): readonly string[] {
  for (const world of worlds.parts) {
    const queries = world.stepQueries?.(step) ?? [];
    if (queries.length > 0) return queries;
  }
  return [];
}
