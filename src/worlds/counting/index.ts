import { ConfigError } from "../../base/errors.ts";
import { random, seedFrom } from "../../base/random.ts";
import { z } from "../../base/schema.ts";
import type { WorldReport } from "../../env/world-folder.ts";
import { defineWorld } from "../../env/world.ts";
import type { Task } from "../../trajectory/task.ts";
import { TINY_WORLD_SPLITS } from "../tiny/permutation.ts";
import type { FunctionTest } from "../../rewards/passes-tests.ts";
import { asFunction, testedQuestions } from "./functions.ts";
import {
  byHand,
  COUNTING_KINDS,
  type Counting,
  countingText,
  drawnCounting,
  readCounting,
  valuesOf,
} from "./problems.ts";
import { countingTeacher } from "./teacher.ts";

const options = z.strictObject({
  seed: z.int().min(0).default(7),
  /** Splits share no problem. Pre-train on base. */
  split: z.enum(TINY_WORLD_SPLITS).default("train"),
  questions: z.int().min(1).default(500),
  kinds: z.array(z.enum(COUNTING_KINDS)).min(1).default(COUNTING_KINDS),
  /** Values that a person has to go through: at least and at most. */
  values: z
    .tuple([z.int().min(1), z.int().max(40)])
    .refine(([least, most]) => least <= most, "expected the smaller number first")
    .default([3, 12]),
  /** No number of a question is larger. */
  largest: z.int().min(20).max(99).default(99),
  /** function: the question asks for a Python function of its first numbers, and has hidden tests (reward `passes-tests`). */
  asks: z.enum(["number", "function"]).default("number"),
});

type Settings = z.output<typeof options>;

const MOST_DRAWN = 5000;

function* tasks(settings: Settings): Generator<Task> {
  const { seed, split, questions } = settings;
  for (let i = 0; i < questions; i++) {
    const problem = drawn(i, settings);
    const about = { type: problem.kind, concepts: [problem.kind] };
    const shared = { id: `counting-${split}-${seed}-${i}`, source: "counting" };
    if (settings.asks === "function") {
      const draw = random(seed).derive("counting tests", split, i);
      const { question, reference, tests } = asFunction(problem, draw, settings.largest);
      yield { ...shared, question, references: [reference], annotations: { ...about, tests } };
      continue;
    }
    const { answer } = byHand(problem, valuesOf(problem));
    const question = countingText(problem);
    yield { ...shared, question, references: [String(answer)], annotations: about };
  }
}

function drawn(number: number, settings: Settings): Counting {
  const { seed, split, kinds, values, largest } = settings;
  const [least, most] = values;
  const draw = random(seed).derive("counting", split, number);
  const kind = draw.pick(kinds);
  for (let attempt = 0; attempt < MOST_DRAWN; attempt++) {
    const problem = drawnCounting(draw, kind, largest);
    const { length } = valuesOf(problem);
    if (length >= least && length <= most && splitOf(problem) === split) return problem;
  }
  const message = `counting: of ${MOST_DRAWN} problems of kind ${kind} with numbers up to ${largest}, none of split ${split} has ${least} to ${most} values. Widen values, raise largest, or leave the kind out of kinds.`;
  throw new ConfigError("RECIPE_BAD_VALUE", message);
}

function splitOf({ kind, slots }: Counting): Settings["split"] | undefined {
  return TINY_WORLD_SPLITS[
    seedFrom("counting", kind, ...Object.values(slots)) % TINY_WORLD_SPLITS.length
  ];
}

/** Verifies problems from their text, whose answers it finds by another way than the generator. */
export function checkCounting(all: readonly Task[]): WorldReport {
  const problems = all.flatMap(({ id, question, references, annotations }) => {
    const tests = (annotations["tests"] ?? []) as FunctionTest[];
    const asked = testedQuestions(question, tests) ?? [{ question, value: references.join(", ") }];
    return asked.flatMap((each) => {
      const read = readCounting(each.question);
      if (read === null)
        return [{ where: id, code: "question-unreadable", message: "the text is no problem" }];
      const answer = triedOut(read);
      if (each.value === String(answer)) return [];
      const message = `${each.question} is said to be ${each.value}; it is ${answer}`;
      return [{ where: id, code: "answer-differs", message }];
    });
  });
  return { counts: { questions: all.length }, problems };
}

/** The answer by closed forms and short loops, without the lists of the generator. */
function triedOut({ kind, slots }: Counting): number {
  const { a = 0, b = 0, k = 1, m = 1, r = 0, s = 0 } = slots;
  const upTo = (n: number, rest: number): number => Math.floor((n - rest) / k) + 1;
  if (kind === "multiples") return Math.floor(b / k) - Math.floor((a - 1) / k);
  if (kind === "total") {
    const sumTo = (n: number): number => {
      const count = Math.max(0, upTo(n, r));
      return count * r + (k * count * (count - 1)) / 2;
    };
    return sumTo(b) - sumTo(a - 1);
  }
  if (kind === "factors") {
    let [count, left] = [1, a];
    for (let p = 2; left > 1; p++) {
      let times = 1;
      for (; left % p === 0; left /= p) times += 1;
      count *= times;
    }
    return count;
  }
  if (kind === "digits") {
    const tens = Array.from({ length: 10 }, (_, ten) => 10 * ten + s - ten);
    return tens.filter((n, ten) => s - ten >= 0 && s - ten <= 9 && n >= a && n <= b).length;
  }
  if (kind === "smallest") {
    let n = a + 1;
    while (n % k !== r || n % m !== s) n += 1;
    return n;
  }
  let n = a;
  for (let left = m; left > 0; left--) n = n % 2 === 1 ? n + k : n >> 1;
  return n;
}

/**
 * Problems about numbers up to 99 that a program solves with a loop and a person by going through many values: counting multiples, factors
 * and digits, sums, searches, repeated steps. They are no calculator's: no expression of the question's numbers gives the answer.
 */
export const counting = defineWorld({
  name: "counting",
  summary: "Generated problems that need a loop: counts, sums, …",
  options,
  tasks,
  check: ({ tasks: all }) => checkCounting(all),
  teachers: [countingTeacher],
  bases: ["coder", "coder-unasking", "coder-doubting", "coder-clumsy", "two-tools"],
});
