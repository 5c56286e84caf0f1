import { valueAt } from "../../base/leaves.ts";
import { checkOptions, type z } from "../../base/schema.ts";
import { isObject, Layers } from "./layers.ts";

/** Settings, not checked yet, and where each value comes from. */
interface Stated {
  settings: unknown;
  origins: ReadonlyMap<string, string>;
}

/** What a set may state, and the settings that it is laid over: the first of them that the run has. */
const BASES: Readonly<Record<string, readonly (readonly string[])[]>> = {
  dataset: [["evaluation", "dataset"]],
  retriever: [["evaluation", "retriever"], ["retriever"]],
  strategy: [["evaluation", "strategy"]],
  sampling: [["evaluation", "sampling"]],
  budgets: [["evaluation", "budgets"], ["budgets"]],
  environment: [["environment"]],
  models: [["models"]],
};

/**
 * Lays each of `evaluation.sets` over what it differs from, by the rules of tiers: a set that states `dataset: { split: dev }` has the other
 * options of `evaluation.dataset`. Values that it takes over keep their origin.
 */
export function withFullSets<T extends Stated>(schema: z.ZodType, resolved: T): T {
  const { evaluation, ...others } = isObject(resolved.settings) ? resolved.settings : {};
  const { sets, ...main } = isObject(evaluation) ? evaluation : {};
  if (!isObject(sets)) return resolved;
  // The defaults of the run's own settings are part of what a set differs from.
  const own = checkOptions(schema, { ...others, evaluation: main });
  if (own.problem !== null) return resolved;
  const layers = new Layers();
  const originOf = (keys: readonly string[]): string =>
    resolved.origins.get(keys.join(".")) ??
    (keys.at(-1) === "name" ? resolved.origins.get(keys.slice(0, -1).join(".")) : undefined) ??
    "default";
  layers.put([], { ...others, evaluation: main }, originOf);
  for (const [name, set] of Object.entries(sets)) {
    const at = ["evaluation", "sets", name];
    if (!isObject(set)) {
      layers.put(at, set, originOf);
      continue;
    }
    layers.put(at, {}, originOf);
    for (const [key, value] of Object.entries(set)) {
      const from = (BASES[key] ?? []).find((keys) => valueAt(own.value, keys) !== undefined);
      if (from !== undefined) {
        const taken = (keys: readonly string[]): string =>
          originOf([...from, ...keys.slice(at.length + 1)]);
        layers.put([...at, key], valueAt(own.value, from), taken);
      }
      layers.put([...at, key], value, originOf);
    }
  }
  return { ...resolved, settings: layers.settings, origins: layers.origins };
}
