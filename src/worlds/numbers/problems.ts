import { ConfigError } from "../../base/errors.ts";
import { type Random, seedFrom } from "../../base/random.ts";
import { TINY_WORLD_SPLITS, type TinyWorldSplit } from "../tiny/permutation.ts";
import type { Draft, Kind } from "./chains.ts";
import { comparison, years } from "./comparison.ts";
import { expression } from "./expression.ts";
import { HIDDEN } from "./language.ts";
import { type Operation, type Step, partsOf, stepsOf } from "./quantities.ts";
import { rate, shop, stock, travel } from "./stories.ts";

const KINDS = { expression, stock, shop, rate, travel, years, comparison } satisfies Record<
  string,
  Kind
>;

export type KindName = keyof typeof KINDS;

/** Names of the kinds of problem, each also a concept. */
export const KIND_NAMES = Object.keys(KINDS) as KindName[];

const CONCEPT_OF = {
  "+": "addition",
  "-": "subtraction",
  "*": "multiplication",
  "/": "division",
  "%": "remainder",
  max: "maximum",
  min: "minimum",
} as const satisfies Record<Operation, string>;

/** Everything that a problem can be tagged with: its kind, the operations of its plain solution, a fraction as its answer. */
export const CONCEPTS = [...KIND_NAMES, ...Object.values(CONCEPT_OF), "fraction"] as const;

export type Concept = (typeof CONCEPTS)[number];

const TAGS_OF: Readonly<Record<KindName, readonly Concept[]>> = {
  expression: ["addition", "subtraction", "multiplication", "division", "remainder", "maximum"],
  stock: ["addition", "subtraction", "multiplication", "division", "remainder"],
  shop: ["addition", "subtraction", "multiplication", "division", "fraction"],
  rate: ["subtraction", "multiplication", "division"],
  travel: ["addition", "subtraction", "multiplication", "division"],
  years: ["addition", "subtraction"],
  comparison: CONCEPTS.filter(
    (tag) => CONCEPTS.indexOf(tag) >= KIND_NAMES.length && tag !== "remainder",
  ),
};

/** The kinds that can have one of the concepts, without the excluded. */
export function kindsWith(
  concepts: readonly Concept[] | undefined,
  exclude: readonly Concept[],
): KindName[] {
  const has = (kind: KindName, tag: Concept): boolean =>
    tag === kind || TAGS_OF[kind].includes(tag);
  return KIND_NAMES.filter(
    (kind) => !exclude.includes(kind) && (concepts?.some((tag) => has(kind, tag)) ?? true),
  );
}

/** Size of the problems of a level. */
export type Level = { steps: readonly [least: number, most: number]; largest: number };

/** What a problem must be like. */
export interface Wanted {
  split: TinyWorldSplit;
  kinds: readonly KindName[];
  level: Level;
  isWanted: (concepts: readonly Concept[]) => boolean;
  name: (person: number) => string;
  /** Whether one number is not told. */
  isHidden: boolean;
}

/** A problem with its solutions. */
export interface Problem {
  kind: KindName;
  text: string;
  concepts: Concept[];
  routes: Step[][];
  answer: number;
}

const MOST_OTHERS = 2;
/** Years may be larger than a level's largest number. */
const LAST_YEAR = 2100;
/** Attempts before the settings are held to be impossible; one in four fits the split. */
const MOST_ATTEMPTS = 5000;
const ATTEMPTS_OF_KIND = 250;

/** Draws until a problem fits. @throws {ConfigError} RECIPE_BAD_VALUE when level and concepts exclude each other. */
export function drawnProblem(draw: Random, wanted: Wanted): Problem {
  const {
    steps: [least, most],
    largest,
  } = wanted.level;
  let kind = draw.pick(wanted.kinds);
  for (let attempt = 1; attempt < MOST_ATTEMPTS; attempt++) {
    // Kinds that are drawn in equal shares, although their numbers work out more or less often.
    if (attempt % ATTEMPTS_OF_KIND === 0) kind = draw.pick(wanted.kinds);
    const steps = least + draw.int(most - least + 1);
    const draft = KINDS[kind]({ draw, steps, largest, name: wanted.name });
    const problem = draft === null ? null : solved(kind, draft, wanted.level);
    if (problem === null || !wanted.isWanted(problem.concepts)) continue;
    if (wanted.isHidden && !isHideable(problem)) continue;
    const text = wanted.isHidden ? hidden(problem) : problem.text;
    if (splitOfProblem(kind, text) === wanted.split) return { ...problem, text };
  }
  const message = `numberworld: no problem of ${least} to ${most} steps with numbers up to ${largest} has the wanted concepts (${MOST_ATTEMPTS} were drawn). Ask for other concepts, exclude fewer, or raise levels.`;
  throw new ConfigError("RECIPE_BAD_VALUE", message);
}

function solved(kind: KindName, { sentences, routes }: Draft, level: Level): Problem | null {
  const [plain, ...others] = routes.map(stepsOf);
  const [least, most] = level.steps;
  if (plain === undefined || plain.length < least || plain.length > most) return null;
  const answer = plain.at(-1)?.value ?? NaN;
  const largest = kind === "years" ? LAST_YEAR : level.largest;
  const fits = (steps: readonly Step[]): boolean =>
    steps.every(({ value }, i) => {
      const unit = i === steps.length - 1 ? 4 : 1;
      return Number.isInteger(value * unit) && value >= 0 && value <= largest;
    });
  if (!fits(plain)) return null;
  const text = sentences.join(" ");
  const distinct = new Map(others.filter(fits).map((steps) => [JSON.stringify(steps), steps]));
  distinct.delete(JSON.stringify(plain));
  const chosen = [plain, ...[...distinct.values()].slice(0, MOST_OTHERS)];
  return { kind, text, concepts: conceptsOf(kind, plain), routes: chosen, answer };
}

function conceptsOf(kind: KindName, steps: readonly Step[]): Concept[] {
  const operations = steps.flatMap(({ expression: text }) => partsOf(text)?.operation ?? []);
  const fraction = Number.isInteger(steps.at(-1)?.value) ? [] : (["fraction"] as const);
  return [...new Set([kind, ...operations.map((each) => CONCEPT_OF[each]), ...fraction])];
}

/** Whether the answer depends on every number: neither a remainder nor the most of several must. */
function isHideable({ text, concepts }: Problem): boolean {
  return !concepts.includes("remainder") && !text.includes(" fewer than ");
}

function hidden({ kind, text }: Problem): string {
  let number = 0;
  return text.replaceAll(/\d+/g, (told) =>
    ++number === 2 ? HIDDEN[kind === "expression" ? "expression" : "sentence"] : told,
  );
}

/** The split of a problem, by its kind and its sorted numbers: no split has another's numbers in other words or in another order. */
export function splitOfProblem(kind: string, text: string): TinyWorldSplit {
  const numbers = (text.match(/\d+/g) ?? []).map(Number).sort((a, b) => a - b);
  const place = seedFrom("numberworld", kind, ...numbers) % TINY_WORLD_SPLITS.length;
  return TINY_WORLD_SPLITS[place] ?? "train";
}
