import { z } from "../../base/schema.ts";
import type { Task } from "../../trajectory/task.ts";
import { defineWorld } from "../../env/world.ts";
import { splitsSchema } from "../../env/world-folder.ts";
import { TINY_WORLD_SPLITS } from "../tiny/splits.ts";
import { checkNumberWorld } from "./check.ts";
import { NUMBER_WORLD_VERSION, numberWorld, numberWorldSchema } from "./number-world.ts";
import { numberTeacher } from "./teacher.ts";
import { numberWorldVocabulary } from "./vocabulary.ts";

const options = numberWorldSchema.extend({
  /** Number of problems: problems 0 to one less. */
  questions: z.int().min(1).default(500),
  /** Numbers of the problems instead, in this order. */
  rows: z.array(z.int().min(0)).min(1).optional(),
});

/** Settings of a world that is written to a folder. */
const written = numberWorldSchema.omit({ split: true }).extend({
  splits: splitsSchema(z.enum(TINY_WORLD_SPLITS)),
  /** Per split. */
  questions: z.int().min(1).default(500),
});

/** The number world: expressions and word problems of two to six steps, with their solutions. docs/worlds.md */
export const numbers = defineWorld({
  name: "numberworld",
  summary: "Generated expressions and problems of two to six steps.",
  version: NUMBER_WORLD_VERSION,
  options,
  tasks,
  written: { options: written },
  check: ({ tasks }) => {
    const { questions, strata, problems } = checkNumberWorld(tasks);
    return { counts: { questions, ...strata }, problems };
  },
  teachers: [numberTeacher],
  bases: ["numbers", "numbers-long", "coder"],
  vocabulary: numberWorldVocabulary,
});

function* tasks({ questions, rows, ...ofWorld }: z.output<typeof options>): Generator<Task> {
  const world = numberWorld(ofWorld);
  const count = rows?.length ?? questions;
  for (let i = 0; i < count; i++) yield world.problem(rows?.[i] ?? i);
}
