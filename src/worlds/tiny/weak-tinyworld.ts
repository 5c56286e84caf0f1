import { ConfigError, DataError } from "../../base/errors.ts";
import { sha256File } from "../../base/files.ts";
import { random } from "../../base/random.ts";
import { z } from "../../base/schema.ts";
import type { Task } from "../../trajectory/task.ts";
import { defineDataset } from "../../data/dataset.ts";
import { type PassRate, readPassRates } from "../../data/pass-rates.ts";
import { DEFAULT_MIX, TINY_WORLD_VERSION, tinyWorldSchema } from "./tiny-world-settings.ts";
import { readQuestion } from "./reading.ts";
import { type TinyWorld, tinyWorld } from "./tiny-world.ts";

const options = tinyWorldSchema.extend({
  /** Results of the policy: `rows.jsonl` of an evaluation or `draws.jsonl` of a synthesis; several files are epochs, earliest first. */
  rows: z.union([z.string().transform((file) => [file]), z.array(z.string()).min(1)]),
  /** Name of the draw to use from a synthesis; default: all draws. */
  draw: z.string().optional(),
  /** Number of questions. */
  questions: z.int().min(1).default(500),
  /** Passages in each question's context; 0: none. */
  distractors: z.int().min(0).max(100).default(0),
  /** A question is weak when its pass rate is below this in every epoch. */
  below: z.number().gt(0).max(1).default(0.5),
  /** With several epochs: a weak question's pass rate must also fall. */
  falling: z.boolean().default(true),
  /** Category of a question: its kind (type and hops), or kind and last relation. */
  by: z.enum(["kind", "relation"]).default("relation"),
  /** Share of a category: proportional to its number of weak questions, or to their fraction. */
  budget: z.enum(["failures", "failure-rate"]).default("failures"),
});

/**
 * New questions of the kinds that a policy fails at, from another world: weak questions are grouped into categories, and each gets its share
 * of distinct new questions. Source: SwS, arXiv 2506.08989. Different here: a category's concept is its relation, and the world writes the
 * question, where SwS uses models. For its difficulty filter use the step `pass-rate` or the selector `difficulty-band`.
 */
export const weakTinyWorld = defineDataset({
  name: "weak-tinyworld",
  summary: "New questions of kinds that a policy answers wrong.",
  options,
  version: TINY_WORLD_VERSION,
  async open(settings) {
    const { rows, ...rest } = settings;
    const epochs: PassRate[][] = [];
    for (const path of rows) epochs.push(await readPassRates(path, settings.draw));
    requireNewWorld(epochs, settings);
    const budgets = categoryBudgets(epochs, settings);
    const world = tinyWorld(tinyWorldSchema.strip().parse(settings));
    const hashes: string[] = [];
    for (const path of rows) hashes.push(await sha256File(path));
    return {
      facts: { ...rest, hashes },
      stream: (limit) => drawn(world, budgets, { ...settings, limit }),
      passages: () => world.passages(),
    };
  },
});

type Settings = z.output<typeof options>;

type Category = { kind: string; relation?: string };

/** @throws {ConfigError} RECIPE_BAD_VALUE when the new questions would come from the same world as the old ones. */
function requireNewWorld(epochs: readonly PassRate[][], { seed, split, rows }: Settings): void {
  const own = `tinyworld-${split}-${seed}-`;
  if (!epochs.some((rates) => rates.some(({ id }) => id.startsWith(own)))) return;
  const message = `weak-tinyworld: seed is ${seed} with split "${split}", the same world as the questions of ${rows.join(", ")}; new questions must come from another world. Set another seed.`;
  throw new ConfigError("RECIPE_BAD_VALUE", message);
}

/** Categories, and the number of new questions for each. @throws {DataError} DATA_BAD_RECORD for another dataset; DATA_EMPTY */
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
    const message = `${rows.join(", ")}: contains no weak question among ${asked.size}: none has a pass rate that stayed below ${below}${falling && rows.length > 1 ? " and fell" : ""}. Raise "below"${falling && rows.length > 1 ? ', or "falling" to false' : ""}, or ask harder questions.`;
    throw new DataError("DATA_EMPTY", message);
  }
  // A fixed order, independent of the order of the rows.
  weak.sort((a, b) => (nameOf(a.category) < nameOf(b.category) ? -1 : 1));
  const weights = weak.map((cell) => (budget === "failures" ? cell.weak : cell.weak / cell.asked));
  const counts = shareOut(questions, weights);
  return weak.map(({ category }, i) => ({ category, count: counts[i] ?? 0 }));
}

function nameOf({ kind, relation = "" }: Category): string {
  return `${kind} ${relation}`;
}

/** @throws {DataError} DATA_BAD_RECORD when the question is not from a tiny world. */
function categoryOf(question: string, by: Settings["by"], rows: readonly string[]): Category {
  const [reading] = readQuestion(question);
  if (reading === undefined) {
    const message = `${rows.join(", ")}: the question "${question}" is not from a tiny world, so its kind is unknown. Use rows of tiny-world questions.`;
    throw new DataError("DATA_BAD_RECORD", message);
  }
  if (reading.type === "bridge") {
    const relation = reading.chain.at(-1)?.name ?? "";
    const kind = `bridge${reading.chain.length}`;
    return by === "kind" ? { kind } : { kind, relation };
  }
  if (reading.type === "intersect") return { kind: "intersect" };
  const kind = KIND_OF[reading.type];
  return by === "kind" ? { kind } : { kind, relation: reading.relation.name };
}

const KIND_OF = {
  "yes-no": "yesNo",
  comparison: "comparison",
  "compare-chains": "compareChains",
} as const;

const NOTHING = Object.fromEntries(Object.keys(DEFAULT_MIX).map((kind) => [kind, 0]));

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

/** After this many repetitions in a row, a category has no more new questions. */
const MOST_REPEATS = 500;

function* distinctQuestions(
  world: TinyWorld,
  { kind, relation }: Category,
  distractors: number,
): Generator<Task, undefined> {
  const seen = new Set<string>();
  const settings = { mix: { ...NOTHING, [kind]: 1 }, distractors };
  const asked = relation === undefined ? settings : { ...settings, relations: [relation] };
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

interface WeaknessRule {
  below: number;
  /** Whether, over several epochs, the pass rate must also fall. */
  falling: boolean;
}

/**
 * The weak questions of a policy: the pass rate is below the limit in every epoch (earliest first) that contains the question and, if the
 * rule says so, its fitted line falls. Source: SwS, arXiv 2506.08989, section 2.1 (limit 0.5, falling): a question that was never solved
 * does not fall, so it is not weak.
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

/** Least-squares slope of rates over epochs; 0 for one. @example slopeOf([{ epoch: 0, rate: 0.4 }, { epoch: 1, rate: 0.2 }]) // -0.2 */
function slopeOf(points: readonly { epoch: number; rate: number }[]): number {
  const mean = (values: readonly number[]): number =>
    values.reduce((sum, value) => sum + value, 0) / values.length;
  const x = mean(points.map(({ epoch }) => epoch));
  const y = mean(points.map(({ rate }) => rate));
  const across = points.reduce((sum, { epoch, rate }) => sum + (epoch - x) * (rate - y), 0);
  const along = points.reduce((sum, { epoch }) => sum + (epoch - x) ** 2, 0);
  return along === 0 ? 0 : across / along;
}

/** Splits a budget by weights into integers, the largest remainders rounded up. @example shareOut(10, [1, 1, 4]) // 2, 2, 6 */
export function shareOut(budget: number, weights: readonly number[]): number[] {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const exact = weights.map((weight) => (budget * weight) / total);
  const shares = exact.map(Math.floor);
  const left = budget - shares.reduce((sum, share) => sum + share, 0);
  const byRemainder = exact
    // Rounding must not break ties.
    .map((value, i) => ({ i, remainder: Math.round((value - Math.floor(value)) * 1e9) }))
    .sort((a, b) => b.remainder - a.remainder || a.i - b.i);
  for (const { i } of byRemainder.slice(0, left)) shares[i] = (shares[i] ?? 0) + 1;
  return shares;
}
