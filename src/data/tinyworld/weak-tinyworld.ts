import { Readable } from "node:stream";
import { ConfigError, DataError } from "../../base/errors.ts";
import { sha256, sha256File } from "../../base/files.ts";
import { random } from "../../base/random.ts";
import { parseOptions, z } from "../../base/schema.ts";
import type { Task } from "../../trajectory/task.ts";
import { type DatasetPart, streamed } from "../dataset.ts";
import { type PassRate, readPassRates } from "../pass-rates.ts";
import { readQuestion } from "./reading.ts";
import { TINY_WORLD_VERSION, type TinyWorld, tinyWorld, tinyWorldSchema } from "./tiny-world.ts";

const options = tinyWorldSchema.extend({
  /** What the policy got right and wrong: `rows.jsonl` of an evaluation or `draws.jsonl` of a synthesis; several: one an epoch, the earliest first. */
  rows: z.union([z.string().transform((file) => [file]), z.array(z.string()).min(1)]),
  /** Of a synthesis's draws: the one that counts, by name; all of them where absent. */
  draw: z.string().optional(),
  /** Number of questions. */
  questions: z.int().min(1).default(500),
  /** Passages in each question's context; 0: none. */
  distractors: z.int().min(0).max(100).default(0),
  /** A question is weak whose pass rate stays below this in every epoch. */
  below: z.number().gt(0).max(1).default(0.5),
  /** With several epochs: only those whose pass rate was falling. */
  falling: z.boolean().default(true),
  /** What a category is: the kind of question (type and hops), or the kind with the relation that is asked for. */
  by: z.enum(["kind", "relation"]).default("relation"),
  /** What a category's share is proportional to: its weak questions, or their share among its questions. */
  budget: z.enum(["failures", "failure-rate"]).default("failures"),
});

/**
 * New questions of the kinds that a policy is weak at, from another world: weak questions are sorted into categories, and each category
 * gets its share of the new ones. They are drawn from the category's own deck, none twice; a category that has fewer gives what it has.
 *
 * Source: SwS, arXiv 2506.08989. Different here: a category's concepts are its relation, and the world writes the question, where SwS
 * lets models extract concepts, write problems, judge and answer them. Its filter by difficulty is the step `pass-rate` or the
 * selector `difficulty-band` of a synthesis.
 */
export const weakTinyWorld: DatasetPart = {
  name: "weak-tinyworld",
  summary: "New tiny-world questions of the kinds that a policy got wrong.",
  options,
  async open(given) {
    const settings = parseOptions(options, given, "weak-tinyworld");
    const { seed, split, people, rows, ...rest } = settings;
    const epochs: PassRate[][] = [];
    for (const path of rows) epochs.push(await readPassRates(path, settings.draw));
    requireNewWorld(epochs, settings);
    const budgets = categoryBudgets(epochs, settings);
    const world = tinyWorld({ seed, split, people });
    const hashes: string[] = [];
    for (const path of rows) hashes.push(await sha256File(path));
    const facts = { seed, split, people, ...rest, hashes };
    return {
      name: "weak-tinyworld",
      fingerprint: `weak-tinyworld-${TINY_WORLD_VERSION}-${sha256(JSON.stringify(facts)).slice(0, 16)}`,
      trainable: true,
      ...streamed((limit) => Readable.from(drawn(world, budgets, { ...settings, limit }))),
      passages: () => world.passages(),
    };
  },
};

type Settings = z.output<typeof options>;

/** The questions of a kind, and of one relation where categories have one. */
interface Category {
  kind: string;
  relation?: string;
}

/** @throws {ConfigError} RECIPE_BAD_VALUE when the new questions would come from the world of the old ones. */
function requireNewWorld(epochs: readonly PassRate[][], { seed, split, rows }: Settings): void {
  const own = `tinyworld-${split}-${seed}-`;
  if (!epochs.some((rates) => rates.some(({ id }) => id.startsWith(own)))) return;
  throw new ConfigError(
    "RECIPE_BAD_VALUE",
    `weak-tinyworld: seed is ${seed} with split "${split}", the world that the questions of ${rows.join(", ")} were asked of; new questions must come from another. Set another seed.`,
  );
}

/**
 * Categories and how many new questions each gets.
 * @throws {DataError} DATA_BAD_RECORD for a question that no tiny world asks; DATA_EMPTY where none is weak.
 */
function categoryBudgets(
  epochs: readonly PassRate[][],
  { rows, below, falling, by, budget, questions }: Settings,
): { category: Category; count: number }[] {
  const asked = new Map(epochs.flat().map(({ id, question }) => [id, question]));
  const cells = new Map<string, { category: Category; asked: number; weak: number }>();
  const cellOf = (question: string) => {
    const category = categoryOf(question, by, rows);
    const name = `${category.kind} ${category.relation ?? ""}`;
    const cell = cells.get(name) ?? { category, asked: 0, weak: 0 };
    cells.set(name, cell);
    return cell;
  };
  for (const question of asked.values()) cellOf(question).asked += 1;
  for (const { question } of weakQuestions(epochs, { below, falling })) cellOf(question).weak += 1;
  const weak = [...cells.values()].filter((cell) => cell.weak > 0);
  if (weak.length === 0) {
    throw new DataError(
      "DATA_EMPTY",
      `${rows.join(", ")}: holds no weak question among ${asked.size}: none whose pass rate stayed below ${below}${falling && rows.length > 1 ? " and fell" : ""}. Set "below" higher${falling && rows.length > 1 ? ', or "falling" to false' : ""}, or ask harder questions.`,
    );
  }
  // In one order, whatever the order of the rows.
  weak.sort((a, b) => (nameOf(a.category) < nameOf(b.category) ? -1 : 1));
  const weights = weak.map((cell) => (budget === "failures" ? cell.weak : cell.weak / cell.asked));
  const counts = shareOut(questions, weights);
  return weak.map(({ category }, i) => ({ category, count: counts[i] ?? 0 }));
}

function nameOf({ kind, relation = "" }: Category): string {
  return `${kind} ${relation}`;
}

/** @throws {DataError} DATA_BAD_RECORD when the text is of no tiny world. */
function categoryOf(question: string, by: Settings["by"], rows: readonly string[]): Category {
  const [reading] = readQuestion(question);
  if (reading === undefined) {
    throw new DataError(
      "DATA_BAD_RECORD",
      `${rows.join(", ")}: the question "${question}" is of no tiny world, so that no kind of question can be told from it. Name rows of questions of the tiny world.`,
    );
  }
  if (reading.type === "bridge") {
    const relation = reading.chain.at(-1)?.name ?? "";
    const kind = `bridge${reading.chain.length}`;
    return by === "kind" ? { kind } : { kind, relation };
  }
  const kind = reading.type === "yes-no" ? "yesNo" : "comparison";
  return by === "kind" ? { kind } : { kind, relation: reading.relation.name };
}

const NOTHING = { bridge1: 0, bridge2: 0, bridge3: 0, bridge4: 0, comparison: 0, yesNo: 0 };

/** Questions of all categories in an order that the seed draws. */
function* drawn(
  world: TinyWorld,
  budgets: readonly { category: Category; count: number }[],
  { questions, distractors, limit }: Settings & { limit: number },
): Generator<Task> {
  const decks = budgets.map(({ category }) => distinctQuestions(world, category, distractors));
  const order = random(world.seed)
    .derive("weak-tinyworld", world.split)
    .shuffle(budgets.flatMap(({ count }, i) => Array<number>(count).fill(i)));
  let made = 0;
  for (const [number, deck] of order.entries()) {
    if (made >= Math.min(limit, questions)) return;
    const next = decks[deck]?.next();
    if (next === undefined || next.done === true) continue;
    yield { ...next.value, id: `weak-tinyworld-${world.split}-${world.seed}-${number}` };
    made += 1;
  }
}

/** In a row that were there already: then there are no others. */
const MOST_REPEATS = 500;

/** Questions of one category, each about other facts. */
function* distinctQuestions(
  world: TinyWorld,
  { kind, relation }: Category,
  distractors: number,
): Generator<Task, undefined> {
  const seen = new Set<string>();
  const settings = { mix: { ...NOTHING, [kind]: 1 }, distractors };
  const asked = relation === undefined ? settings : { ...settings, relation };
  let repeats = 0;
  for (let number = 0; repeats < MOST_REPEATS; number++) {
    const task = world.question(number, asked);
    const facts = JSON.stringify(task.annotations.supportingFacts);
    repeats = seen.has(facts) ? repeats + 1 : 0;
    if (repeats > 0) continue;
    seen.add(facts);
    yield task;
  }
  return undefined;
}

/** When a question counts as weak. */
interface WeaknessRule {
  /** Pass rate that it stays below, in every epoch. */
  below: number;
  /** Whether, over several epochs, it must also have been falling. */
  falling: boolean;
}

/**
 * The questions that a policy is weak at: those whose pass rate stays below the bound in every epoch and, where there are several and
 * the rule says so, whose fitted line over the epochs falls.
 *
 * @param epochs pass rates by question, the earliest first; a question counts in those that have it.
 *
 * Source: SwS, arXiv 2506.08989, section 2.1 (bound 0.5, falling). A question that was never solved does not fall and is not weak by
 * its rule: nothing can be learned from what is out of reach.
 */
export function weakQuestions(
  epochs: readonly (readonly PassRate[])[],
  { below, falling }: WeaknessRule,
): { id: string; question: string }[] {
  const histories = new Map<
    string,
    { question: string; rates: { epoch: number; rate: number }[] }
  >();
  for (const [epoch, rates] of epochs.entries()) {
    for (const { id, question, rate } of rates) {
      const history = histories.get(id) ?? { question, rates: [] };
      histories.set(id, history);
      history.rates.push({ epoch, rate });
    }
  }
  return [...histories].flatMap(([id, { question, rates }]) => {
    if (rates.some(({ rate }) => rate >= below)) return [];
    if (falling && epochs.length > 1 && slopeOf(rates) >= 0) return [];
    return [{ id, question }];
  });
}

/**
 * Least-squares slope of rates over epochs; 0 of a single one.
 * @example slopeOf([{ epoch: 0, rate: 0.4 }, { epoch: 1, rate: 0.2 }]) // -0.2
 */
function slopeOf(points: readonly { epoch: number; rate: number }[]): number {
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const x = mean(points.map(({ epoch }) => epoch));
  const y = mean(points.map(({ rate }) => rate));
  const across = points.reduce((sum, { epoch, rate }) => sum + (epoch - x) * (rate - y), 0);
  const along = points.reduce((sum, { epoch }) => sum + (epoch - x) ** 2, 0);
  return along === 0 ? 0 : across / along;
}

/**
 * Splits a budget in proportion to weights, in whole numbers that sum to it: the largest remainders are rounded up, the first of equal
 * ones.
 * @example shareOut(10, [1, 1, 4]) // [2, 2, 6]: 1.67, 1.67, 6.67 rounded down leave 2, for the first and the second
 */
export function shareOut(budget: number, weights: readonly number[]): number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const exact = weights.map((weight) => (budget * weight) / total);
  const shares = exact.map(Math.floor);
  const left = budget - shares.reduce((sum, share) => sum + share, 0);
  const byRemainder = exact
    // Equal ones are equal but for a rounding.
    .map((value, i) => ({ i, remainder: Math.round((value - Math.floor(value)) * 1e9) }))
    .sort((a, b) => b.remainder - a.remainder || a.i - b.i);
  for (const { i } of byRemainder.slice(0, left)) shares[i] = (shares[i] ?? 0) + 1;
  return shares;
}
