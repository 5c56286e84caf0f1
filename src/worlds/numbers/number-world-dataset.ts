import { Readable } from "node:stream";
import { sha256 } from "../../base/files.ts";
import { parseOptions, z } from "../../base/schema.ts";
import type { Task } from "../../trajectory/task.ts";
import { type DatasetPart, streamed } from "../../data/dataset.ts";
import { NUMBER_WORLD_VERSION, numberWorld, numberWorldSchema } from "./number-world.ts";

const options = numberWorldSchema.extend({
  /** Number of problems: problems 0 to one less. */
  questions: z.int().min(1).default(500),
  /** Numbers of the problems instead, in this order. */
  rows: z.array(z.int().min(0)).min(1).optional(),
});

type Options = z.output<typeof options>;

/** Expressions and word problems of two to six steps, with their solutions. */
export const numberWorldDataset: DatasetPart = {
  name: "numberworld",
  summary: "Generated expressions and problems of two to six steps.",
  options,
  open: (given) => {
    const settings = parseOptions(options, given, "numberworld");
    const hash = sha256(JSON.stringify(settings)).slice(0, 16);
    return Promise.resolve({
      name: "numberworld",
      fingerprint: `numberworld-${NUMBER_WORLD_VERSION}-${hash}`,
      trainable: true,
      ...streamed((limit) => Readable.from(drawn(settings, limit))),
      passages: () => [],
    });
  },
};

function* drawn({ questions, rows, ...ofWorld }: Options, limit: number): Generator<Task> {
  const world = numberWorld(ofWorld);
  const numbers = rows ?? Array.from({ length: questions }, (_, number) => number);
  for (const number of numbers.slice(0, Math.min(limit, numbers.length))) {
    yield world.problem(number);
  }
}
