import { ConfigError, DataError } from "../base/errors.ts";
import { valuesBy } from "../base/grouped-by.ts";
import { random } from "../base/random.ts";
import { z } from "../base/schema.ts";
import { mean } from "../base/statistics.ts";
import { type Accuracy, epochsShape, readEpochs } from "../data/accuracy-epochs.ts";
import { type DatasetContext, datasetSchema, type OpenedDataset } from "../data/dataset.ts";
import type { Task } from "../trajectory/task.ts";

/** Options of datasets of new questions in the categories that a policy is weak at. */
export const weakShape = {
  ...epochsShape,
  /** The dataset of `rows`, needed for the folder of a training. */
  of: datasetSchema.optional(),
  /** Number of questions. */
  questions: z.int().min(1).default(500),
  /** A question is weak when its pass rate is below this in every epoch. */
  below: z.number().gt(0).max(1).default(0.5),
  /** With several epochs: a weak question's pass rate must also fall. */
  falling: z.boolean().default(true),
  /** Share of a category: proportional to its number of weak questions, or to their fraction. */
  budget: z.enum(["failures", "failure-rate"]).default("failures"),
};

type WeakSettings = z.output<z.ZodObject<typeof weakShape>> & { seed: number; split: string };

/** What a world knows of its questions. C: a category. */
export interface WeakWorld<C> {
  name: string;
  /** Of a question that was asked. @param task it, where `of` is given. */
  categoriesOf(asked: Accuracy, task: Task | undefined): readonly C[];
  nameOf(category: C): string;
  /** Question number n of a category in the new world. */
  question(category: C, number: number): Task;
  /** What two questions of the dataset never share. */
  keyOf(task: Task, category: C): string;
}

/**
 * New questions in the categories of the questions that a policy is weak at: each category gets its share of the number of questions.
 * @throws {ConfigError} RECIPE_BAD_VALUE when the new questions would come from the world of the old ones; as `readEpochs`.
 * @throws {DataError} DATA_EMPTY without a weak question; as `readEpochs`.
 */
export async function openWeakQuestions<C>(
  settings: WeakSettings & Record<string, unknown>,
  { open }: DatasetContext,
  world: WeakWorld<C>,
): Promise<OpenedDataset> {
  const { rows: _, of, ...rest } = settings;
  const inner = of === undefined ? null : await open(of);
  const tasks = (await inner?.tasks()) ?? null;
  const { epochs, hashes } = await readEpochs(settings, tasks);
  requireNewWorld(epochs, settings, world.name);
  const byId = new Map(tasks?.map((task) => [task.id, task]));
  const budgets = categoryBudgets(epochs, settings, {
    categoriesOf: (asked) => world.categoriesOf(asked, byId.get(asked.id)),
    nameOf: (category) => world.nameOf(category),
  });
  return {
    facts: { ...rest, of: inner?.fingerprint, hashes },
    stream: (limit) => drawn(world, budgets, { ...settings, limit }),
  };
}

/** @throws {ConfigError} RECIPE_BAD_VALUE */
function requireNewWorld(
  epochs: readonly (readonly Accuracy[])[],
  { seed, split, rows }: WeakSettings,
  name: string,
): void {
  const own = `${name}-${split}-${seed}-`;
  if (!epochs.some((rates) => rates.some(({ id }) => id.startsWith(own)))) return;
  const message = `weak-${name}: seed is ${seed} with split "${split}", the same world as the questions of ${rows.join(", ")}; new questions must come from another world. Set another seed.`;
  throw new ConfigError("RECIPE_BAD_VALUE", message);
}

interface Budget<C> {
  category: C;
  count: number;
}

/** Categories, and the number of new questions for each. @throws {DataError} DATA_EMPTY */
function categoryBudgets<C>(
  epochs: readonly (readonly Accuracy[])[],
  { rows, below, falling, budget, questions }: WeakSettings,
  world: { categoriesOf(asked: Accuracy): readonly C[]; nameOf(category: C): string },
): Budget<C>[] {
  const asked = new Map(epochs.flat().map((each) => [each.id, each]));
  const cells = new Map<string, { category: C; asked: number; weak: number }>();
  const count = (question: Accuracy, what: "asked" | "weak"): void => {
    for (const category of world.categoriesOf(question)) {
      const name = world.nameOf(category);
      const cell = cells.get(name) ?? { category, asked: 0, weak: 0 };
      cells.set(name, cell);
      cell[what] += 1;
    }
  };
  for (const question of asked.values()) count(question, "asked");
  for (const question of weakQuestions(epochs, { below, falling })) count(question, "weak");
  // A fixed order, independent of the order of the rows.
  const weak = [...cells].filter(([, cell]) => cell.weak > 0).sort(([a], [b]) => (a < b ? -1 : 1));
  if (weak.length === 0) {
    const falls = falling && epochs.length > 1;
    const message = `${rows.join(", ")}: contains no weak question among ${asked.size}: none has a pass rate that stayed below ${below}${falls ? " and fell" : ""}. Raise "below"${falls ? ', or "falling" to false' : ""}, or ask harder questions.`;
    throw new DataError("DATA_EMPTY", message);
  }
  const shares = weak.map(([, cell]) => cell.weak / (budget === "failures" ? 1 : cell.asked));
  const counts = shareOut(questions, shares);
  return weak.map(([, { category }], i) => ({ category, count: counts[i] ?? 0 }));
}

function* drawn<C>(
  world: WeakWorld<C>,
  budgets: readonly Budget<C>[],
  { seed, split, questions, limit }: WeakSettings & { limit: number },
): Generator<Task> {
  const seen = new Set<string>();
  const decks = budgets.map(({ category }) => distinctQuestions(world, category, seen));
  const order = random(seed)
    .derive(`weak-${world.name}`, split)
    .shuffle(budgets.flatMap(({ count }, i) => Array<number>(count).fill(i)));
  let made = 0;
  for (const [number, deck] of order.entries()) {
    if (made >= Math.min(limit, questions)) return;
    const next = decks[deck]?.next();
    if (next === undefined || next.done === true) continue;
    yield { ...next.value, id: `weak-${world.name}-${split}-${seed}-${number}` };
    made += 1;
  }
}

/** After this many repetitions in a row, a category has no more new questions. */
const MOST_REPEATS = 500;

function* distinctQuestions<C>(
  world: WeakWorld<C>,
  category: C,
  seen: Set<string>,
): Generator<Task, undefined> {
  let repeats = 0;
  for (let number = 0; repeats < MOST_REPEATS; number++) {
    const task = world.question(category, number);
    const key = world.keyOf(task, category);
    repeats = seen.has(key) ? repeats + 1 : 0;
    if (repeats > 0) continue;
    seen.add(key);
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
  epochs: readonly (readonly Accuracy[])[],
  { below, falling }: WeaknessRule,
): Accuracy[] {
  const points = epochs.flatMap((rates, epoch) => rates.map((asked) => ({ asked, epoch })));
  const histories = valuesBy(
    points,
    ({ asked }) => asked.id,
    (point) => point,
  );
  return [...histories.values()].flatMap((visits) => {
    const rates = visits.map(({ epoch, asked: { rate } }) => ({ epoch, rate }));
    if (rates.some(({ rate }) => rate >= below)) return [];
    if (falling && epochs.length > 1 && slopeOf(rates) >= 0) return [];
    return visits.slice(0, 1).map(({ asked }) => asked);
  });
}

/** Least-squares slope of rates over epochs; 0 for one. @example slopeOf([{ epoch: 0, rate: 0.4 }, { epoch: 1, rate: 0.2 }]) // -0.2 */
function slopeOf(points: readonly { epoch: number; rate: number }[]): number {
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
