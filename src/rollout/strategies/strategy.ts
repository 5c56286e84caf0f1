import { type PartWithOptions, definer } from "../../base/define-part.ts";
import { requireReturned } from "../../base/registry.ts";
import type { Capability } from "../../env/environments/environment.ts";
import type { Trajectory } from "../../trajectory/trajectory.ts";
import type { RolloutOptions } from "../record.ts";

interface StrategyExample {
  /** Options that need few messages; default: its defaults. */
  readonly settings?: object;
  /** A message that it parses as a search; default: the protocol's. */
  readonly search?: string;
  /** A message that it parses as an answer; default: the protocol's. */
  readonly answer?: string;
}

/** A way of answering a question with a policy and an environment. */
export interface Strategy extends PartWithOptions {
  /** Publication of the method, and the differences here; absent for the plain ones. */
  readonly source?: string;
  readonly example?: StrategyExample;
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
  /** @param settings its options; default: its defaults. @throws {ConfigError} RECIPE_UNKNOWN_KEY, RECIPE_BAD_VALUE */
  run: (options: RolloutOptions, settings?: unknown) => Promise<Trajectory>;
  /** In training, where a rollout makes several trajectories that branch off from each other; absent: `run` makes the one. */
  runAll?: (options: RolloutOptions, settings?: unknown) => Promise<Trajectory[]>;
}

/** Makes a strategy. @throws {ConfigError} PLUGIN_BAD_PART without run or prompts. */
export const defineStrategy = definer<Strategy>()("strategy", {
  members: { prompts: "text" },
  functions: {
    searches: { at: 0, otherwise: false },
    needs: { at: 0, otherwise: [] },
    readsGold: { at: 0, otherwise: false },
    leaves: { at: 0, otherwise: 1 },
    run: { at: 1, async: true, returned: checkedTrajectory },
    runAll: {
      at: 1,
      async: true,
      returned: (trajectories: Trajectory[], call) =>
        trajectories.map((each) => checkedTrajectory(each, call)),
    },
  },
});

function checkedTrajectory(trajectory: Trajectory, { what }: { what: string }): Trajectory {
  requireReturned(what, trajectory, { id: "text", calls: "list", turns: "list", end: "text" });
  return trajectory;
}
