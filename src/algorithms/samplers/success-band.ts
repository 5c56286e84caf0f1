import { z } from "../../base/schema.ts";
import type { TrainingHistory } from "../history.ts";
import { defineSampler } from "./sampler.ts";
import { groupRequest, shuffledTasks } from "./shuffled.ts";

const options = z.strictObject({
  /** Reward whose mean over a task's last visit is looked at; the combined reward when absent. */
  reward: z.string().optional(),
  /** A task is taken again where that mean lies between these two, both included. */
  low: z.number().default(0.125),
  high: z.number().default(0.875),
  /** After so many steps a task outside the band is tried again. */
  retryAfter: z.int().min(1).default(50),
});

/**
 * A curriculum by the run's own history: it skips tasks that were too easy or too hard at their last visit, for some steps. It takes every
 * task that it has not seen.
 */
export const successBand = defineSampler({
  name: "success-band",
  summary: "Skips tasks that were too easy or too hard at their last visit.",
  options,
  open: ({ reward = "reward", low, high, retryAfter }, context, state) => {
    const taskAt = shuffledTasks(context);
    let place = stateSchema.parse(state ?? { place: 0 }).place;
    const isWanted = (taskId: string, step: number, history: TrainingHistory): boolean => {
      const last = history.visits(taskId).at(-1);
      const success = last?.means[reward];
      if (last === undefined || success === undefined || step - last.step >= retryAfter)
        return true;
      return success >= low && success <= high;
    };
    return {
      next(step, history) {
        const { promptsPerStep, tasks } = context;
        const from = place;
        const chosen = [];
        // After one whole pass the next tasks are taken as they come: a step never goes without.
        while (chosen.length < promptsPerStep) {
          const task = taskAt(place);
          const isSecondPass = place - from >= tasks.length;
          place += 1;
          if (isSecondPass || isWanted(task.id, step, history)) chosen.push(task);
        }
        return chosen.map((task, p) => groupRequest(context, task, step, p));
      },
      accept: (groups) => ({ batch: groups, more: [] }),
      state: () => ({ place }),
    };
  },
});

const stateSchema = z.object({ place: z.int().min(0) });
