import type { Trajectory } from "../../trajectory/trajectory.ts";
import type { RolloutOptions } from "../record.ts";
import { strategies } from "./index.ts";

/** A strategy as settings name it: the name alone stands for its defaults. */
export type NamedStrategy = string | ({ name: string } & Record<string, unknown>);

/** A strategy with its options. */
export interface OpenedStrategy {
  name: string;
  /** Whether it ever uses the environment's search. */
  searches: boolean;
  /** Whether it tells the policy what a question's annotations or references know. */
  readsGold: boolean;
  run: (options: RolloutOptions) => Promise<Trajectory>;
}

/**
 * @param where the recipe key or flag that named it, for messages.
 * @throws {ConfigError} PART_UNKNOWN, RECIPE_UNKNOWN_KEY, RECIPE_BAD_VALUE
 */
export function openStrategy(named: NamedStrategy, where: string): OpenedStrategy {
  const { name, ...settings } = typeof named === "string" ? { name: named } : named;
  const strategy = strategies.get(name, where);
  return {
    name,
    searches: strategy.searches(settings),
    readsGold: strategy.readsGold(settings),
    run: (options) => strategy.run(options, settings),
  };
}

/** What of a strategy a protocol's fingerprint holds: the name alone where there is nothing else to say. */
export function strategyMark(named: NamedStrategy): NamedStrategy {
  return typeof named !== "string" && Object.keys(named).length === 1 ? named.name : named;
}
