import { groupedBy } from "../../base/grouped-by.ts";
import { type Random, random } from "../../base/random.ts";
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

/**
 * The task at each place of an endless sequence of shuffled passes. Tasks of a mixture (`annotations.mixture`) have passes of their own in
 * each part, and stand in the sequence in the ratio of the parts' weights.
 */
export function shuffledTasks({ tasks, seed }: SamplerContext): (place: number) => Task {
  const parts = [...groupedBy(tasks, ({ annotations }) => annotations.mixture?.part ?? "")];
  if (parts.length < 2) return passesOf(tasks, (pass) => random(seed).derive("tasks", pass));
  const taskOf = parts.map(([part, own]) =>
    passesOf(own, (pass) => random(seed).derive("tasks", part, pass)),
  );
  const turnAt = turns(parts.map(([, [first]]) => first?.annotations.mixture?.weight ?? 1));
  return (place) => {
    const { part, index } = turnAt(place);
    return taskOf[part]!(index);
  };
}

function passesOf(
  tasks: readonly Task[],
  drawOf: (pass: number) => Random,
): (place: number) => Task {
  let pass = -1;
  let order: readonly Task[] = [];
  return (place) => {
    const wanted = Math.floor(place / tasks.length);
    if (wanted !== pass) {
      pass = wanted;
      order = drawOf(pass).shuffle(tasks);
    }
    return order[place % tasks.length]!;
  };
}

/**
 * Whose turn each place of a sequence is, and how many turns that part had before: turn k of a part is due at (k + ½) / weight. Every
 * stretch of places has the ratio of the weights, but for rounding.
 * @example weights 1 and 3: 1 0 1 1, 1 0 1 1, ...
 */
function turns(weights: readonly number[]): (place: number) => { part: number; index: number } {
  const counts = weights.map(() => 0);
  const known: { part: number; index: number }[] = [];
  return (place) => {
    while (known.length <= place) {
      const due = weights.map((weight, part) => ((counts[part] ?? 0) + 0.5) / weight);
      const part = due.indexOf(Math.min(...due));
      const index = counts[part] ?? 0;
      known.push({ part, index });
      counts[part] = index + 1;
    }
    return known[place]!;
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
