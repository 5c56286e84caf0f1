import { ConfigError } from "../../base/errors.ts";
import { withParts } from "../../base/registry.ts";
import { type Environment, isCapable } from "../../env/environments/environment.ts";
import type { Trajectory } from "../../trajectory/trajectory.ts";
import type { RolloutOptions } from "../record.ts";
import { strategies } from "./index.ts";

/** A strategy in settings: a name alone means its defaults. */
export type NamedStrategy = string | ({ name: string } & Record<string, unknown>);

/** A strategy with its options. */
export interface OpenedStrategy {
  name: string;
  searches: boolean;
  /** Whether it reveals gold annotations or references to the policy. */
  readsGold: boolean;
  /** Trajectories that one training rollout makes, at most. */
  leaves: number;
  run: (options: RolloutOptions) => Promise<Trajectory>;
  /** All trajectories of one rollout: several where the strategy branches. */
  runAll: (options: RolloutOptions) => Promise<Trajectory[]>;
}

/** @param where the recipe key or flag, for messages. @throws {ConfigError} PART_UNKNOWN, RECIPE_UNKNOWN_KEY, RECIPE_BAD_VALUE */
export function openStrategy(named: NamedStrategy, where: string): OpenedStrategy {
  const { name, ...settings } = typeof named === "string" ? { name: named } : named;
  const strategy = strategies.get(name, where);
  return {
    name,
    searches: strategy.searches(settings),
    readsGold: strategy.readsGold(settings),
    leaves: strategy.leaves(settings),
    run: (options) => {
      requireFitting(named, options.environment, where);
      return strategy.run(options, settings);
    },
    runAll: async (options) => {
      requireFitting(named, options.environment, where);
      return strategy.runAll?.(options, settings) ?? [await strategy.run(options, settings)];
    },
  };
}

/** As `openStrategy`, of a strategy that may have to be loaded. */
export function loadStrategy(named: NamedStrategy, where: string): Promise<OpenedStrategy> {
  return withParts(() => openStrategy(named, where));
}

/** Refuses a strategy in an environment that lacks what it needs. @throws {ConfigError} STRATEGY_UNFIT */
export function requireFitting(
  named: NamedStrategy,
  environment: Environment,
  where: string,
): void {
  const { name, ...settings } = typeof named === "string" ? { name: named } : named;
  const needs = strategies.get(name, where).needs(settings);
  const lacks = needs.filter((each) => !isCapable(environment, each)).join(" and ");
  if (lacks === "") return;
  const message = `${where} is "${name}", which needs ${lacks}; the environment "${environment.name}" has none. Use the strategy "agent", which fits every environment.`;
  throw new ConfigError("STRATEGY_UNFIT", message);
}

/** A strategy in a protocol's fingerprint: the name alone if it has no options. */
export function strategyMark(named: NamedStrategy): NamedStrategy {
  return typeof named !== "string" && Object.keys(named).length === 1 ? named.name : named;
}
