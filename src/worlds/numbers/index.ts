import { z } from "../../base/schema.ts";
import { splitsSchema } from "../../env/world-folder.ts";
import { defineWorld } from "../../env/world.ts";
import type { Task } from "../../trajectory/task.ts";
import { TINY_WORLD_SPLITS } from "../tiny/permutation.ts";
import { checkNumberWorld } from "./check.ts";
import { languageWords } from "./language.ts";
import { NUMBER_WORLD_VERSION, numberWorld, numberWorldSchema } from "./number-world.ts";
import { numberTeacher } from "./teacher.ts";
import { weakNumberWorld } from "./weak-numberworld.ts";

const DIGITS = Array.from({ length: 10 }, (_, digit) => String(digit));

const SIGNS = `+ - * / % = < > ( ) [ ] { } , . : ? ! # _ ' "`.split(" ");

const CODE_WORDS =
  "print def return for in range if else elif while sum max min int len abs round list sorted not and or True False None import math answer result output python total count value error Error line x y z n i a b c";

/**
 * Every word, digit and sign of the number world and of short Python programs, as they stand in a text: with the space before them, and
 * without it at a beginning or after a bracket. Numbers are read digit by digit (" 4", "4").
 * @example numberWorldVocabulary().includes(" lamps") // true
 */
export function numberWorldVocabulary(): string[] {
  const bare = [...CODE_WORDS.split(" "), ...DIGITS, ...SIGNS, "\n", " "];
  const spaced = [...languageWords(), ...bare.slice(0, -2)].map((word) => ` ${word}`);
  return [...new Set([...spaced, ...bare])].sort();
}

const options = numberWorldSchema.extend({
  /** Number of problems: problems 0 to one less. */
  questions: z.int().min(1).default(500),
  /** Numbers of the problems instead, in this order. */
  rows: z.array(z.int().min(0)).min(1).optional(),
});

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
  datasets: [weakNumberWorld],
  teachers: [numberTeacher],
  bases: [
    ...["numbers", "numbers-long", "numbers-routes", "numbers-unboxed", "numbers-uneven"],
    "hedging",
  ],
  vocabulary: numberWorldVocabulary,
});

function* tasks({ questions, rows, ...ofWorld }: z.output<typeof options>): Generator<Task> {
  const world = numberWorld(ofWorld);
  const count = rows?.length ?? questions;
  for (let i = 0; i < count; i++) yield world.problem(rows?.[i] ?? i);
}
