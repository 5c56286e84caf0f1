import { random } from "../../base/random.ts";
import { z } from "../../base/schema.ts";
import type { Task } from "../../trajectory/task.ts";
import { defineSampler, type RolloutRequest, type SamplerContext } from "./sampler.ts";

/** Every task once per pass, each pass in an order of its own. */
export const shuffled = defineSampler({
  name: "shuffled",
  summary: "Every task once per pass, each pass in an order of its own.",
  options: z.strictObject({}),
  open: (_, context) => {
    const taskAt = shuffledTasks(context);
    const { promptsPerStep } = context;
    return {
      next: (step) =>
        Array.from({ length: promptsPerStep }, (_, p) =>
          groupRequest(context, taskAt(step * promptsPerStep + p), step, p),
        ),
      accept: (groups) => ({ batch: groups, more: [] }),
      state: () => null,
    };
  },
});

/** The task at each place of an endless sequence of shuffled passes. */
export function shuffledTasks({ tasks, seed }: SamplerContext): (place: number) => Task {
  let pass = -1;
  let order: readonly Task[] = [];
  return (place) => {
    const wanted = Math.floor(place / tasks.length);
    if (wanted !== pass) {
      pass = wanted;
      order = random(seed).derive("tasks", pass).shuffle(tasks);
    }
    return order[place % tasks.length]!;
  };
}

/**
 * A whole group for a task.
 * @param step from 0.
 * @param p the group's number within the step.
 */
export function groupRequest(
  { groupSize }: SamplerContext,
  task: Task,
  step: number,
  p: number,
): RolloutRequest {
  return { task, groupId: `${step + 1}-${p}`, rollouts: groupSize };
}
