import type { PartWithOptions } from "../../base/part-schema.ts";
import { parseOptions, type z } from "../../base/schema.ts";
import type { Capability } from "../../env/environments/environment.ts";
import type { Trajectory } from "../../trajectory/trajectory.ts";
import type { RolloutOptions } from "../record.ts";

/** What the tests that every strategy must pass cannot know of one. */
interface StrategyExample<Settings> {
  /** Options with which it asks for few messages; its defaults where absent. */
  readonly settings?: Settings;
  /** A message that it reads as a search; the protocol's where absent. */
  readonly search?: string;
  /** A message that it reads as an answer; the protocol's where absent. */
  readonly answer?: string;
}

/** A way of answering a question with a policy and an environment. */
export interface Strategy extends PartWithOptions {
  /** Where the method is published, and what is different here; absent for the plain ones. */
  readonly source?: string;
  readonly example?: StrategyExample<object>;
  /**
   * What the policy is shown. grows: one sequence, turn by turn. once: one prompt, one message. own: prompts that the strategy builds
   * anew each time.
   */
  readonly prompts: "grows" | "once" | "own";
  /** Whether it ever uses the environment's search under such options; one that does not needs no corpus. */
  searches: (settings?: unknown) => boolean;
  /** What it needs of an environment under such options. */
  needs: (settings?: unknown) => readonly Capability[];
  /** Whether it tells the policy what a question's annotations or references know: then what is measured is no result. */
  readsGold: (settings?: unknown) => boolean;
  /**
   * @param settings its options; defaults where absent.
   * @throws {ConfigError} RECIPE_UNKNOWN_KEY, RECIPE_BAD_VALUE when they do not fit.
   */
  run: (options: RolloutOptions, settings?: unknown) => Promise<Trajectory>;
  /** In training, where a rollout makes several trajectories that branch off from each other; absent: `run` makes the one. */
  runAll?: (options: RolloutOptions, settings?: unknown) => Promise<Trajectory[]>;
}

/** A strategy as its file writes it: options checked before they reach it. */
interface Described<S extends z.ZodObject> extends Omit<
  Strategy,
  "options" | "example" | "searches" | "needs" | "readsGold" | "run" | "runAll"
> {
  options: S;
  example?: StrategyExample<z.input<S>>;
  searches: boolean | ((settings: z.output<S>) => boolean);
  /** Nothing where absent. */
  needs?: readonly Capability[] | ((settings: z.output<S>) => readonly Capability[]);
  /** Absent: never. */
  readsGold?: (settings: z.output<S>) => boolean;
  run: (options: RolloutOptions, settings: z.output<S>) => Promise<Trajectory>;
  runAll?: (options: RolloutOptions, settings: z.output<S>) => Promise<Trajectory[]>;
}

export function defineStrategy<S extends z.ZodObject>(described: Described<S>): Strategy {
  const { runAll, ...rest } = described;
  const { name, options, searches, needs = [], readsGold, run } = rest;
  const checked = (settings: unknown = {}): z.output<S> => parseOptions(options, settings, name);
  return {
    part: "strategy",
    ...rest,
    searches: (settings) =>
      typeof searches === "boolean" ? searches : searches(checked(settings)),
    needs: (settings) => (typeof needs === "function" ? needs(checked(settings)) : needs),
    readsGold: (settings) => readsGold?.(checked(settings)) ?? false,
    run: async (rollout, settings) => run(rollout, checked(settings)),
    ...(runAll === undefined
      ? {}
      : {
          runAll: async (rollout: RolloutOptions, settings) => runAll(rollout, checked(settings)),
        }),
  };
}
