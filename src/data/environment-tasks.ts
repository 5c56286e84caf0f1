import { Readable } from "node:stream";
import { ConfigError } from "../base/errors.ts";
import { sha256 } from "../base/files.ts";
import { parseOptions, z } from "../base/schema.ts";
import { SPLITS } from "../base/split.ts";
import type { Task } from "../trajectory/task.ts";
import { type DatasetPart, type OwnTasks, streamed } from "./dataset.ts";

const options = z.strictObject({
  seed: z.int().min(0).default(7),
  /** Splits share no task. */
  split: z.enum(SPLITS).default("train"),
  questions: z.int().min(1).default(500),
});

/** Tasks that need neither a corpus nor a file: the recipe's environment draws them. */
export const environmentTasks: DatasetPart = {
  name: "environment",
  summary: "Tasks that the recipe's environment makes, such as maps.",
  options,
  open: (given, own) => {
    const settings = parseOptions(options, given, "environment");
    if (own === undefined) {
      throw new ConfigError(
        "RECIPE_BAD_VALUE",
        `dataset is "environment", and the recipe's environment makes no tasks of its own. Name another dataset, or an environment that does, such as a game.`,
      );
    }
    const { questions, ...draw } = settings;
    const drawn = (limit: number) => first(own(draw), Math.min(limit, questions));
    const [sample = null] = drawn(1);
    const hash = sha256(JSON.stringify([settings, sample])).slice(0, 16);
    return Promise.resolve({
      name: "environment",
      fingerprint: `environment-${hash}`,
      trainable: true,
      ...streamed((limit) => Readable.from(drawn(limit))),
      passages: () => [],
    });
  },
};

function* first(tasks: ReturnType<OwnTasks>, count: number): Generator<Task> {
  let left = count;
  for (const task of tasks) {
    if (left-- <= 0) return;
    yield task;
  }
}
