import { type MadeCall, type PartWithOptions, definer } from "../../base/define-part.ts";
import { ConfigError } from "../../base/errors.ts";
import { requireReturned } from "../../base/registry.ts";
import type { Sampling } from "../../rollout/sampling.ts";
import type { Task } from "../../trajectory/task.ts";
import type { Trajectory } from "../../trajectory/trajectory.ts";
import type { TrainingHistory } from "../history.ts";
import type { ScoredGroup } from "../scored-group.ts";

/** Rollouts that a sampler wants. */
export interface RolloutRequest {
  task: Task;
  /** Trajectories compared with each other share it; unique in the run, and stable: seeds derive from it. */
  groupId: string;
  /** How many. */
  rollouts: number;
  /** Number of the first one in its group: above 0 where the group has some already. */
  first?: number;
  /** Rollouts that the group has from earlier steps; it begins with them, and they are not counted again. */
  earlier?: readonly Trajectory[];
  /** "baseline" is scored and not trained. "train" when absent. */
  purpose?: Trajectory["purpose"];
  /** What is drawn otherwise than the recipe says, such as greedily for a baseline. */
  sampling?: Partial<Sampling>;
}

/** What a sampler answers to scored rollouts. */
export interface Accepted {
  /** Groups of the step's batch. */
  batch: readonly ScoredGroup[];
  /** Rollouts wanted before the batch is complete; none: the batch is trained on. */
  more: readonly RolloutRequest[];
}

/** Decides which rollouts are made, and what of them is a batch. */
export interface Sampler {
  /**
   * The first rollouts of a step.
   * @param step from 0.
   */
  next(step: number, history: TrainingHistory): readonly RolloutRequest[];
  /**
   * Takes everything of this step that was scored so far, in the order of its requests.
   * @param round of the step, from 1.
   */
  accept(groups: readonly ScoredGroup[], step: number, round: number): Accepted;
  /** What `open` needs to continue after a resume, as JSON; null where the step's number is enough. */
  state(): unknown;
}

/** What samplers are opened with. */
export interface SamplerContext {
  tasks: readonly Task[];
  seed: number;
  /** Groups of a batch. */
  promptsPerStep: number;
  /** Rollouts of a group (G). */
  groupSize: number;
}

/** A sampler that a recipe can name. */
export interface SamplerPart extends PartWithOptions {
  /** Where the method is published; absent for plain ones. */
  readonly source?: string;
  /** Whether each group has a rollout of purpose "baseline". False when absent. */
  readonly givesBaselines?: boolean;
  /** Whether a batch may have rollouts of an earlier step, and so of older weights. False when absent. */
  readonly keepsRollouts?: boolean;
  /** @param state of an earlier `state()`; null at the start. */
  open(
    options: Readonly<Record<string, unknown>>,
    context: SamplerContext,
    state: unknown,
  ): Sampler;
}

/** Makes a sampler. What it asks for and accepts is checked. @throws {ConfigError} PLUGIN_BAD_PART without open. */
export const defineSampler = definer<SamplerPart>()("sampler", {
  functions: { open: { at: 0, returned: checkedSampler } },
});

function checkedSampler(sampler: Sampler, { what: opened, name }: MadeCall<unknown>): Sampler {
  requireReturned(opened, sampler, { next: "function", accept: "function", state: "function" });
  const made = `sampler "${name}"`;
  return {
    next(step, history) {
      const requests = sampler.next(step, history);
      requireRequests(`${made}: next`, requests);
      if (requests.length > 0) return requests;
      throw new ConfigError(
        "PLUGIN_FAILED",
        `${made}: next returned no request for step ${step + 1}: expected at least one, because a step without rollouts teaches nothing. Correct its code.`,
      );
    },
    accept(groups, step, round) {
      const accepted = sampler.accept(groups, step, round);
      const what = `${made}: accept`;
      requireReturned(what, accepted, { batch: "list", more: "list" });
      requireRequests(what, accepted.more);
      if (accepted.batch.every((group) => groups.includes(group))) return accepted;
      throw new ConfigError(
        "PLUGIN_FAILED",
        `${what} returned a batch with a group that it was not given: expected some of the groups. Correct its code.`,
      );
    },
    state: () => sampler.state(),
  };
}

function requireRequests(what: string, requests: unknown): void {
  requireReturned(what, { requests }, { requests: "list" });
  for (const request of requests as readonly unknown[]) {
    requireReturned(`${what}: a request`, request, { task: "object", groupId: "text" });
    const { rollouts } = request as RolloutRequest;
    if (Number.isInteger(rollouts) && rollouts > 0) continue;
    throw new ConfigError(
      "PLUGIN_FAILED",
      `${what} returned a request whose rollouts is ${String(rollouts)}: expected a whole number from 1. Correct its code.`,
    );
  }
}
