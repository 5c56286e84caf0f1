import { ConfigError } from "../../base/errors.ts";
import { random, seedFrom } from "../../base/random.ts";
import { parseOptions, z } from "../../base/schema.ts";
import type { Task } from "../../trajectory/task.ts";
import { namer } from "../tiny/names.ts";
import { TINY_WORLD_SPLITS } from "../tiny/permutation.ts";
import {
  CONCEPTS,
  type Concept,
  KIND_NAMES,
  type Problem,
  drawnProblem,
  kindsWith,
} from "./problems.ts";
import { spellings } from "./quantities.ts";

/** Increases with every change of a byte of any problem; part of a result's fingerprint. */
export const NUMBER_WORLD_VERSION = 1;

const weight = z.number().min(0);

/** Shares of a pool's strata, in any sum. */
const poolSchema = z.strictObject({
  easy: weight.default(0.4),
  medium: weight.default(0.4),
  hard: weight.default(0.2),
  /** A number is not told, so that only chance gives the expected answer. */
  impossible: weight.default(0),
  /** The accepted answer is wrong. */
  mislabelled: weight.default(0),
  /** Repeats an earlier problem of the pool. */
  duplicates: weight.default(0),
});

const LEVEL_NAMES = ["easy", "medium", "hard"] as const;

type LevelName = (typeof LEVEL_NAMES)[number];

const levelSchema = z.strictObject({
  /** Operations of the plain solution: at least and at most. */
  steps: z
    .tuple([z.int().min(2), z.int().max(6)])
    .refine(([least, most]) => least <= most, "expected the smaller number first"),
  /** No number is larger, in the text and on the way; years excepted. */
  largest: z.int().min(20).max(100_000),
});

const LEVELS: Record<LevelName, z.output<typeof levelSchema>> = {
  easy: { steps: [2, 2], largest: 50 },
  medium: { steps: [3, 4], largest: 200 },
  hard: { steps: [5, 6], largest: 2000 },
};

const concepts = z.array(z.enum(CONCEPTS));

/** Settings of a pool of problems. */
export const numberWorldSchema = z.strictObject({
  seed: z.int().min(0).default(7),
  /** Splits share no problem. */
  split: z.enum(TINY_WORLD_SPLITS).default("train"),
  pool: poolSchema
    .prefault({})
    .refine(
      ({ duplicates: _, ...others }) => Object.values(others).some((share) => share > 0),
      "expected a share above 0 beside duplicates",
    ),
  levels: z
    .strictObject({
      easy: levelSchema.default(LEVELS.easy),
      medium: levelSchema.default(LEVELS.medium),
      hard: levelSchema.default(LEVELS.hard),
    })
    .prefault({}),
  /** Each problem has at least one of these concepts; absent: any. */
  concepts: concepts.min(1).optional(),
  /** No problem has one of these concepts. */
  exclude: concepts.default([]),
});

export type NumberWorldSettings = z.output<typeof numberWorldSchema>;

/** Problems by number. Nothing is stored; everything is a pure function of the settings and the number. */
export interface NumberWorld {
  /** @param number any integer from 0. @throws {ConfigError} RECIPE_BAD_VALUE for another, or when no problem has the wanted concepts. */
  problem(number: number): Task;
}

const PEOPLE = 8100;
/** Between the people of one problem, so that each problem begins with another person. */
const APART = 1350;

/**
 * A world of sums: expressions, and word problems of two to six steps in a small closed language, each with its solution.
 * @throws {ConfigError} RECIPE_BAD_VALUE, RECIPE_UNKNOWN_KEY
 */
export function numberWorld(options: z.input<typeof numberWorldSchema>): NumberWorld {
  const settings = parseOptions(numberWorldSchema, options, "numberworld");
  const { seed, split, pool, levels, concepts: wanted, exclude } = settings;
  const people = namer("person", split, PEOPLE, seedFrom("numberworld", seed));
  const draw = random(seed).derive("numberworld", split);
  const isWanted = (tags: readonly Concept[]): boolean =>
    (wanted === undefined || wanted.some((each) => tags.includes(each))) &&
    !exclude.some((each) => tags.includes(each));
  const kinds = kindsWith(wanted, exclude);
  if (kinds.length === 0) throw noKind(settings);
  const problem = (number: number): Task => {
    if (!Number.isSafeInteger(number) || number < 0) throw badNumber(number);
    const own = draw.derive(number);
    const id = `numberworld-${split}-${seed}-${number}`;
    const stratum = stratumOf(pool, seed, number);
    if (stratum === "duplicates") {
      const { annotations, ...first } = problem(own.int(number));
      const duplicateOf = annotations.duplicateOf ?? first.id;
      return { ...first, id, annotations: { ...annotations, duplicateOf } };
    }
    const drawn = drawnProblem(own.derive("problem"), {
      split,
      kinds,
      isWanted,
      isHidden: stratum === "impossible",
      level: levels[levelOf(stratum, pool, own.next())],
      name: (person) => people.name((number + person * APART) % PEOPLE),
    });
    const wrong = 1 + own.int(9);
    return taskOf(id, stratum, drawn, wrong);
  };
  return { problem };
}

function noKind({ concepts: wanted = [], exclude }: NumberWorldSettings): ConfigError {
  const message = `numberworld: no kind of problem has one of concepts [${wanted.join(", ")}] and none of exclude [${exclude.join(", ")}]. The kinds are ${KIND_NAMES.join(", ")}.`;
  return new ConfigError("RECIPE_BAD_VALUE", message);
}

function badNumber(number: number): ConfigError {
  const message = `numberworld: problem number is ${number}; it must be an integer from 0.`;
  return new ConfigError("RECIPE_BAD_VALUE", message);
}

type Pool = NumberWorldSettings["pool"];

/** Fractional part of the golden ratio: its multiples fill the unit interval evenly, so each beginning of a pool has the shares. */
const GOLDEN = 0.6180339887498949;

/** Problem 0 has nothing to repeat. */
function stratumOf(pool: Pool, seed: number, number: number): keyof Pool {
  const shares = number === 0 ? { ...pool, duplicates: 0 } : pool;
  const start = seedFrom("numberworld strata", seed) / 2 ** 32;
  return picked(shares, (start + number * GOLDEN) % 1);
}

/** The level of a problem; strata that are no level use the levels in their shares. */
function levelOf(stratum: keyof Pool, pool: Pool, at: number): LevelName {
  const own = LEVEL_NAMES.find((name) => name === stratum);
  if (own !== undefined) return own;
  const { easy, medium, hard } = pool;
  return picked(
    easy + medium + hard > 0 ? { easy, medium, hard } : { easy: 1, medium: 1, hard: 1 },
    at,
  );
}

/** The key at a place from 0 to 1 of the shares laid end to end. */
function picked<K extends string>(shares: Readonly<Record<K, number>>, at: number): K {
  const entries = (Object.entries(shares) as [K, number][]).filter(([, share]) => share > 0);
  let left = at * entries.reduce((sum, [, share]) => sum + share, 0);
  const found = entries.find(([, share]) => (left -= share) < 0) ?? entries.at(-1);
  if (found === undefined) throw new RangeError("no share is above 0");
  return found[0];
}

function taskOf(id: string, stratum: string, problem: Problem, wrong: number): Task {
  const { kind, text, concepts: tags, routes, answer } = problem;
  const [plain = [], ...others] = routes.map((steps) =>
    steps.map(({ question, expression, value }) => ({
      question,
      answer: String(value),
      passage: null,
      expression,
    })),
  );
  const label = stratum === "mislabelled" ? answer + wrong : answer;
  // The steps of an impossible problem would contain the number that it does not tell.
  const solved = stratum === "impossible" ? {} : { decomposition: plain, routes: others };
  return {
    id,
    question: text,
    source: "numberworld",
    // Nobody writes a year with a comma.
    references: kind === "years" ? [String(label)] : spellings(label),
    annotations: { type: kind, concepts: tags, stratum, ...solved },
  };
}
