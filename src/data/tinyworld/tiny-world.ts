import { ConfigError } from "../../base/errors.ts";
import { parseOptions, z } from "../../base/schema.ts";
import type { Passage, Task } from "../../trajectory/task.ts";
import { tinyWorldFacts, type Facts } from "./facts.ts";
import { TINY_WORLD_SPLITS, type TinyWorldSplit } from "./names.ts";
import { mix32 } from "./permutation.ts";
import { DEFAULT_MIX, questionDrawer, type Draft, type TinyWorldMix } from "./questions.ts";
import { type Pages, PAGINGS, pagesOf } from "./pages.ts";
import { passageSentences, step, valueText } from "./text.ts";

/** A passage with its sentences; `text` joins them with spaces. */
export interface TinyPassage extends Passage {
  sentences: string[];
}

export interface TinyWorldQuestionOptions {
  /** Weights of the kinds of question; missing kinds keep their default. */
  mix?: Partial<TinyWorldMix>;
  /** Name of the last (or compared) relation; default: all. It changes the numbering of the questions. */
  relation?: string;
  /** Number of passages in `annotations.context`: the gold ones and distractors, shuffled. 0: none. */
  distractors?: number;
}

/**
 * A fictional encyclopedia: passages and questions by number. Nothing is stored; everything is a pure function of
 * (seed, split, people, number), byte-identical on every machine.
 */
export interface TinyWorld {
  readonly seed: number;
  readonly split: TinyWorldSplit;
  readonly people: number;
  /** Number of passages: 1.7 times `people` with one for each entity, 5.6 times with one for each fact. */
  readonly size: number;
  /**
   * @param index from 0 to `size` - 1.
   * @throws {ConfigError} RECIPE_BAD_VALUE when it is out of range.
   */
  passage(index: number): TinyPassage;
  /** All passages in order, generated one by one. */
  passages(): Generator<TinyPassage>;
  /**
   * @param number any integer from 0; small numbers give distinct questions.
   * @throws {ConfigError} RECIPE_BAD_VALUE when it is not such an integer, or when no weight of the mix is above 0;
   *   TINY_WORLD_TOO_SMALL when the world has no question of the kind.
   */
  question(number: number, options?: TinyWorldQuestionOptions): Task;
  /** Questions 0 … count-1. */
  questions(count: number, options?: TinyWorldQuestionOptions): Generator<Task>;
}

const weight = z.number().min(0);

/** Increases with every change of a byte of any world; part of a result's fingerprint. */
export const TINY_WORLD_VERSION = 2;

/** Schema of a mix of questions. */
export const mixSchema = z.strictObject({
  bridge1: weight.default(DEFAULT_MIX.bridge1),
  bridge2: weight.default(DEFAULT_MIX.bridge2),
  bridge3: weight.default(DEFAULT_MIX.bridge3),
  bridge4: weight.default(DEFAULT_MIX.bridge4),
  bridge5: weight.default(DEFAULT_MIX.bridge5),
  bridge6: weight.default(DEFAULT_MIX.bridge6),
  comparison: weight.default(DEFAULT_MIX.comparison),
  yesNo: weight.default(DEFAULT_MIX.yesNo),
});

/** Settings of a world. */
export const tinyWorldSchema = z.strictObject({
  seed: z.int().default(7),
  split: z.enum(TINY_WORLD_SPLITS).default("train"),
  people: z.int().min(2).max(1_000_000).default(1000),
  /** Facts of a passage: all of an entity, or one; with one, a search needs a word of its statement. */
  passages: z.enum(PAGINGS).default("entity"),
  /** Ways in which a relation is stated. */
  wordings: z.int().min(1).max(3).default(3),
});

/** Settings of a world. */
export type TinyWorldSettings = z.input<typeof tinyWorldSchema>;

/**
 * A world of fictional people, towns, regions, firms, works and events that no model has memorised: a correct answer
 * requires a search.
 *
 * @param options.split worlds of different splits share the language but no entity, for any seeds and sizes; worlds
 *   of one split with different seeds have different facts, and mostly different names.
 * @param options.people persons, 2 to 10⁶; there are 1.7 passages per person. Names have two words up to about 8 000
 *   people and three beyond.
 * @throws {ConfigError} RECIPE_BAD_VALUE when an option is out of range.
 *
 * @example tinyWorld({ seed: 7, split: "train", people: 1000 }).size // 1700
 */
export function tinyWorld(options: TinyWorldSettings): TinyWorld {
  const settings = parseOptions(tinyWorldSchema, options, "tinyworld");
  const { seed, split, people, wordings } = settings;
  const facts = tinyWorldFacts(seed, split, people);
  const pages = pagesOf(facts, settings.passages);
  const draw = questionDrawer(facts);
  const passage = (index: number): TinyPassage => {
    requireWithin("passage", index, pages.size);
    const page = pages.page(index);
    const sentences = passageSentences(facts, page, wordings);
    return {
      id: passageId(split, index),
      title: facts.name(page.entity),
      text: sentences.join(" "),
      sentences,
    };
  };
  const question = (number: number, settings: TinyWorldQuestionOptions = {}): Task => {
    requireWithin("question", number, Number.MAX_SAFE_INTEGER);
    const draft = draw(number, { ...DEFAULT_MIX, ...settings.mix }, settings.relation);
    const task = taskOf({ facts, pages, split }, `tinyworld-${split}-${seed}-${number}`, draft);
    const wanted = settings.distractors ?? 0;
    if (wanted > 0) {
      const order = contextPages({ facts, pages }, draft, wanted, number);
      task.annotations.context = order.map(passage);
    }
    return task;
  };
  return {
    seed,
    split,
    people,
    size: pages.size,
    passage,
    *passages() {
      for (let i = 0; i < pages.size; i++) yield passage(i);
    },
    question,
    *questions(count, settings) {
      for (let j = 0; j < count; j++) yield question(j, settings);
    },
  };
}

function requireWithin(what: string, number: number, end: number): void {
  if (Number.isInteger(number) && number >= 0 && number < end) return;
  throw new ConfigError(
    "RECIPE_BAD_VALUE",
    `tinyworld: ${what} number is ${number}; it must be an integer from 0 to ${end - 1}.`,
  );
}

function passageId(split: TinyWorldSplit, number: number): string {
  return `${split}-${number}`;
}

interface Place {
  facts: Facts;
  pages: Pages;
  split: TinyWorldSplit;
}

function taskOf({ facts, pages, split }: Place, id: string, draft: Draft): Task {
  const steps = draft.steps.map(({ entity, fact }) => ({
    question: step(fact.relation, facts.name(entity)),
    answer: valueText(facts, fact.relation, fact.value),
    passage: passageId(split, pages.stating(entity, fact.relation)),
  }));
  return {
    id,
    question: draft.text,
    references: [draft.answer ?? steps.at(-1)?.answer ?? ""],
    source: "tinyworld",
    annotations: {
      type: draft.type,
      hops: draft.steps.length,
      supportingPassages: steps.map(({ passage }) => passage),
      supportingFacts: draft.steps.map(({ entity, fact }) => ({
        title: facts.name(entity),
        sentence: pages.page(pages.stating(entity, fact.relation)).relations.indexOf(fact.relation),
      })),
      decomposition: steps,
    },
  };
}

/** The gold passages and similar ones: same first word, then those that name a gold entity, then any. */
function contextPages(
  { facts, pages }: Pick<Place, "facts" | "pages">,
  draft: Draft,
  wanted: number,
  number: number,
): number[] {
  const gold = draft.steps.map(({ entity }) => entity);
  const chosen = new Set(
    draft.steps.map(({ entity, fact }) => pages.stating(entity, fact.relation)),
  );
  const near = gold.flatMap((entity) => [
    ...facts.alike(entity, 3),
    ...facts.mentioning(entity).slice(0, 4),
  ]);
  for (const page of near.flatMap((entity) => pages.about(entity))) {
    if (chosen.size < wanted) chosen.add(page);
  }
  const random = facts.hash("context", number);
  for (let i = 0; chosen.size < Math.min(wanted, pages.size); i++) {
    chosen.add(mix32(random, i) % pages.size);
  }
  const place = (page: number): number => mix32(~random, page);
  return [...chosen].sort((a, b) => place(a) - place(b) || a - b);
}
