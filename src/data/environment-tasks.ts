import { ConfigError } from "../base/errors.ts";
import { z } from "../base/schema.ts";
import { SPLITS } from "../base/split.ts";
import type { Task } from "../trajectory/task.ts";
import { defineDataset, type OwnTasks } from "./dataset.ts";

const options = z.strictObject({
  seed: z.int().min(0).default(7),
  /** Splits share no task. */
  split: z.enum(SPLITS).default("train"),
  questions: z.int().min(1).default(500),
});

/** Tasks that need neither a corpus nor a file: the recipe's environment draws them. */
export const environmentTasks = defineDataset({
  name: "environment",
  summary: "Tasks that the recipe's environment makes, such as maps.",
  options,
  open(settings, { own }) {
    if (own === undefined)
      throw new ConfigError(
        "RECIPE_BAD_VALUE",
        `dataset is "environment", and the recipe's environment makes no tasks of its own. Name another dataset, or an environment that does, such as a game.`,
      );
    const { questions, ...draw } = settings;
    const [sample = null] = first(own(draw), 1);
    return { facts: [settings, sample], stream: () => first(own(draw), questions) };
  },
});

function* first(tasks: ReturnType<OwnTasks>, count: number): Generator<Task> {
  let left = count;
  for (const task of tasks) {
    if (left-- <= 0) return;
    yield task;
  }
}
