import { ConfigError } from "../../base/errors.ts";
import { z } from "../../base/schema.ts";
import type { Trajectory } from "../../trajectory/trajectory.ts";
import { type ScoredGroup, hasMeanBetween } from "../scored-group.ts";
import { defineSampler, type RolloutRequest, type SamplerContext } from "./sampler.ts";
import { groupRequest, shuffledTasks } from "./shuffled.ts";

const options = z.strictObject({
  /** Reward whose mean over the screened rollouts decides, before weights; the combined reward when absent. */
  reward: z.string().optional(),
  /** A prompt continues where that mean lies strictly between these two. */
  above: z.number().default(0),
  below: z.number().default(1),
  /** Rollouts of a screening; a prompt that continues gets the rest of `groupSize`. */
  screen: z.int().min(1).default(4),
  /** Prompts of a screening, in batches of `promptsPerStep`. */
  screenedBatches: z.number().gt(0).default(4),
  /** Rounds of rollouts that a step may take; after the last it trains on the groups that it has. */
  maxRounds: z.int().min(1).default(4),
});

/**
 * Rolls out a few times each of many prompts, and continues only those that are sometimes right. One round holds the continuation of this
 * batch and the screening for the next one. Qualified prompts beyond the batch wait for the next step with their screened rollouts, the
 * oldest first.
 *
 * The screened rollouts of a group are then one or more optimiser steps older than the rest of it. The loss corrects for it:
 * its ratio divides by the probabilities that they were sampled with (`oldLogprobs: sampled`), and `rollout/staleness` reports the mean age.
 * The history has one visit for a screening, and one more for the whole group.
 *
 * Source: SPEED-RL, arXiv 2506.09016: 4 + 20 rollouts, 64 prompts screened for batches of 16. Different here: the waiting rollouts keep
 * their sampled log-probabilities, where the authors' trainer computes old log-probabilities again (`oldLogprobs: recomputed`) and so does
 * not correct for their age; a prompt waits before its continuation, not after it, so that at most `screen` rollouts of a group are
 * old; there is no screening while a whole batch waits; after `maxRounds` the step trains on a smaller batch.
 */
export const screenContinue = defineSampler({
  name: "screen-continue",
  summary:
    "Screens many prompts with few rollouts and continues those of mixed success (SPEED-RL).",
  source: "SPEED-RL, arXiv 2506.09016",
  keepsRollouts: true,
  options,
  open({ screen, screenedBatches, maxRounds, ...band }, context, state) {
    const { promptsPerStep, groupSize, tasks } = context;
    requireContinuation(screen, groupSize);
    const taskAt = shuffledTasks(context);
    let { place, waiting } = restored(state, context);
    let asked = 0;
    /** Groups of this step's batch, and those whose screening is of this step. */
    let continued = new Set<string>();
    let judged = new Set<string>();

    const continuation = (): RolloutRequest[] => {
      const missing = promptsPerStep - continued.size;
      const next = waiting.slice(0, missing);
      waiting = waiting.slice(missing);
      for (const { groupId } of next) continued.add(groupId);
      return next.map(({ task, groupId, trajectories }) => {
        const earlier = judged.has(groupId) ? undefined : trajectories;
        return { task, groupId, rollouts: groupSize - screen, first: screen, earlier };
      });
    };
    const screening = (step: number): RolloutRequest[] => {
      if (waiting.length >= promptsPerStep) return [];
      const known = new Set(waiting.map(({ task }) => task.id));
      const most = Math.ceil(screenedBatches * promptsPerStep);
      const requests: RolloutRequest[] = [];
      for (let seen = 0; seen < tasks.length && requests.length < most; seen++) {
        const task = taskAt(place++);
        if (known.has(task.id)) continue;
        requests.push({ ...groupRequest(context, task, step, asked++), rollouts: screen });
      }
      return requests;
    };
    return {
      next(step) {
        [asked, continued, judged] = [0, new Set(), new Set()];
        return [...continuation(), ...screening(step)];
      },
      accept(groups, step, round) {
        const batch = groups.filter(({ groupId }) => continued.has(groupId));
        const screened = groups.filter(
          ({ groupId }) => !continued.has(groupId) && !judged.has(groupId),
        );
        for (const { groupId } of screened) judged.add(groupId);
        waiting = [...waiting, ...screened.filter((group) => hasMeanBetween(group, band))];
        const isLast = batch.length === promptsPerStep || round >= maxRounds;
        return { batch, more: isLast ? [] : [...continuation(), ...screening(step)] };
      },
      state() {
        const kept = waiting.map(({ task, ...rest }) => ({ taskId: task.id, ...rest }));
        return { place, waiting: kept };
      },
    };
  },
});

/** @throws {ConfigError} RECIPE_BAD_VALUE */
function requireContinuation(screen: number, groupSize: number): void {
  if (screen < groupSize) return;
  throw new ConfigError(
    "RECIPE_BAD_VALUE",
    `algorithm.sampler.screen is ${screen} and algorithm.groupSize is ${groupSize}: no rollout is left for the continuation. Set screen below groupSize.`,
  );
}

const stateSchema = z.object({
  place: z.int().min(0),
  waiting: z.array(
    z.object({
      taskId: z.string(),
      groupId: z.string(),
      trajectories: z.array(z.custom<Trajectory>()),
    }),
  ),
});

/** @returns the place in the sequence of tasks, and the prompts that wait; a task that the dataset no longer has does not wait. */
function restored(state: unknown, { tasks }: SamplerContext) {
  const { place, waiting } = stateSchema.parse(state ?? { place: 0, waiting: [] });
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const groups = waiting.flatMap(({ taskId, ...rest }): ScoredGroup[] => {
    const task = byId.get(taskId);
    return task === undefined ? [] : [{ task, ...rest }];
  });
  return { place, waiting: groups };
}
