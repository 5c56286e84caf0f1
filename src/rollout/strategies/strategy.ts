import { requireDescribed, requireReturned } from "../../base/part-members.ts";
import type { PartWithOptions } from "../../base/part-schema.ts";
import { parseOptions, type z } from "../../base/schema.ts";
import type { Capability } from "../../env/environments/environment.ts";
import type { Trajectory } from "../../trajectory/trajectory.ts";
import type { RolloutOptions } from "../record.ts";

/** Facts of a strategy for its contract tests. */
interface StrategyExample<Settings> {
  /** Options that need few messages; default: its defaults. */
  readonly settings?: Settings;
  /** A message that it parses as a search; default: the protocol's. */
  readonly search?: string;
  /** A message that it parses as an answer; default: the protocol's. */
  readonly answer?: string;
}

/** A way of answering a question with a policy and an environment. */
export interface Strategy extends PartWithOptions {
  /** Publication of the method, and the differences here; absent for the plain ones. */
  readonly source?: string;
  readonly example?: StrategyExample<object>;
  /** Kind of prompts. grows: one sequence, turn by turn. once: one prompt, one message. own: the strategy builds each prompt. */
  readonly prompts: "grows" | "once" | "own";
  /** Its own prompts say what they ask for (`asked`), so that a scripted policy can answer them. */
  readonly describesPrompts?: boolean;
  /** Whether it ever uses the environment's search with such options; otherwise it needs no corpus. */
  searches: (settings?: unknown) => boolean;
  /** Capabilities that it needs from an environment with such options. */
  needs: (settings?: unknown) => readonly Capability[];
  /** Whether it reveals gold annotations or references to the policy: the measurement is then a control, not a result. */
  readsGold: (settings?: unknown) => boolean;
  /** Trajectories that one training rollout makes, at most. */
  leaves: (settings?: unknown) => number;
  /**
   * @param settings its options; default: its defaults.
   * @throws {ConfigError} RECIPE_UNKNOWN_KEY, RECIPE_BAD_VALUE when they do not fit.
   */
  run: (options: RolloutOptions, settings?: unknown) => Promise<Trajectory>;
  /** In training, where a rollout makes several trajectories that branch off from each other; absent: `run` makes the one. */
  runAll?: (options: RolloutOptions, settings?: unknown) => Promise<Trajectory[]>;
}

/** A strategy's definition; its options are already checked. */
interface Described<S extends z.ZodObject> extends Omit<
  Strategy,
  "options" | "example" | "searches" | "needs" | "readsGold" | "leaves" | "run" | "runAll"
> {
  options: S;
  example?: StrategyExample<z.input<S>>;
  searches: boolean | ((settings: z.output<S>) => boolean);
  /** Nothing where absent. */
  needs?: readonly Capability[] | ((settings: z.output<S>) => readonly Capability[]);
  /** Absent: never. */
  readsGold?: (settings: z.output<S>) => boolean;
  /** Absent: one. */
  leaves?: (settings: z.output<S>) => number;
  run: (options: RolloutOptions, settings: z.output<S>) => Promise<Trajectory>;
  runAll?: (options: RolloutOptions, settings: z.output<S>) => Promise<Trajectory[]>;
}

export function defineStrategy<S extends z.ZodObject>(described: Described<S>): Strategy {
  const { runAll, ...rest } = described;
  const { name, options, searches, needs = [], readsGold, leaves, run } = rest;
  requireDescribed("strategy", described, ["run"], { options: "schema", prompts: "text" });
  const returned = (trajectory: Trajectory): Trajectory => {
    const members = { id: "text", calls: "list", turns: "list", end: "text" } as const;
    requireReturned(`strategy "${name}": run`, trajectory, members);
    return trajectory;
  };
  const checked = (settings: unknown = {}): z.output<S> => parseOptions(options, settings, name);
  return {
    part: "strategy",
    ...rest,
    searches: (settings) =>
      typeof searches === "boolean" ? searches : searches(checked(settings)),
    needs: (settings) => (typeof needs === "function" ? needs(checked(settings)) : needs),
    readsGold: (settings) => readsGold?.(checked(settings)) ?? false,
    leaves: (settings) => leaves?.(checked(settings)) ?? 1,
    run: async (rollout, settings) => returned(await run(rollout, checked(settings))),
    runAll:
      runAll === undefined
        ? undefined
        : async (rollout: RolloutOptions, settings) =>
            (await runAll(rollout, checked(settings))).map(returned),
  };
}
