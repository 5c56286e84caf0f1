import { ConfigError } from "../base/errors.ts";
import { valuesBy } from "../base/grouped-by.ts";
import { z } from "../base/schema.ts";
import { mean } from "../base/statistics.ts";
import type { Task } from "../trajectory/task.ts";
import { type Accuracy, epochsShape, readEpochs } from "./accuracy-epochs.ts";
import { datasetSchema, defineDataset } from "./dataset.ts";

/**
 * The questions of another dataset whose accuracy varied most over the epochs of an earlier training, in the order of their rank. A batch
 * with more prompts than questions repeats them, each time as a group of its own.
 *
 * Source: One-shot RLVR, arXiv 2504.20571, the historical variance score: variance over n (not n − 1) epochs, of equal ones the earlier
 * question first. Different here: an epoch is a visit of the question, of which a history keeps the newest 64.
 *
 * @example accuracies 0, .5, 1 have variance (.25 + 0 + .25) / 3 = .167
 */
export const byVariance = defineDataset({
  name: "by-variance",
  summary: "Questions whose accuracy varied most in a training.",
  options: z.strictObject({
    of: datasetSchema,
    ...epochsShape,
    /** Number of questions: those of rank 1 to it. */
    questions: z.int().min(1).default(1),
    /** Ranks of the questions instead, in this order: [1, 13]. */
    ranks: z.array(z.int().min(1)).min(1).optional(),
  }),
  async open({ of, questions, ranks, ...given }, { open }) {
    const inner = await open(of);
    const tasks = await inner.tasks();
    const { epochs, hashes } = await readEpochs(given, tasks);
    const ranked = rankedByVariance(tasks, epochs);
    const wanted = ranks ?? Array.from({ length: questions }, (_, i) => i + 1);
    const chosen = wanted.map((rank) => {
      const task = ranked[rank - 1];
      if (task !== undefined) return task;
      throw new ConfigError(
        "RECIPE_BAD_VALUE",
        `by-variance: there is no question of rank ${rank}: ${ranked.length} of the ${tasks.length} questions have two epochs or more. Train longer, or ask for fewer.`,
      );
    });
    return {
      facts: [inner.fingerprint, hashes, given.draw, given.reward, wanted],
      trainable: inner.trainable,
      stream: () => chosen,
      passages: () => inner.passages(),
    };
  },
});

/** The questions that have at least two epochs, the one with the largest variance first. */
function rankedByVariance(
  tasks: readonly Task[],
  epochs: readonly (readonly Accuracy[])[],
): Task[] {
  const rates = valuesBy(
    epochs.flat(),
    ({ id }) => id,
    ({ rate }) => rate,
  );
  return tasks
    .map((task) => ({ task, own: rates.get(task.id) ?? [] }))
    .filter(({ own }) => own.length > 1)
    .map(({ task, own }) => ({ task, variance: varianceOf(own) }))
    .sort((a, b) => b.variance - a.variance)
    .map(({ task }) => task);
}

function varianceOf(rates: readonly number[]): number {
  const centre = mean(rates);
  return mean(rates.map((rate) => (rate - centre) ** 2));
}
