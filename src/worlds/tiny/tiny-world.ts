import { ConfigError } from "../../base/errors.ts";
import { seedFrom } from "../../base/random.ts";
import { parseOptions } from "../../base/schema.ts";
import type { Passage, Task } from "../../trajectory/task.ts";
import { RELATIONS_OF, isWithin, tinyWorldFacts } from "./facts.ts";
import { pagesOf, passageSentences, wrongValue } from "./pages.ts";
import type { TinyWorldSplit } from "./permutation.ts";
import { questionDrawer } from "./questions.ts";
import { contextPages, passageId, taskOf } from "./tasks.ts";
import { step, valueText } from "./text.ts";
import {
  DEFAULT_MIX,
  type TinyWorldMix,
  type TinyWorldSettings,
  tinyWorldSchema,
} from "./tiny-world-settings.ts";

/** A passage with its sentences; `text` joins them with spaces. */
export interface TinyPassage extends Passage {
  sentences: string[];
}

export interface TinyWorldQuestionOptions {
  mix?: Partial<TinyWorldMix>;
  /** Names of the last (or compared) relations; default: all. They change the numbering of the questions. */
  relations?: readonly string[];
  /** Names of relations that no question uses; they change the numbering. */
  exclude?: readonly string[];
  /** Share of the chains that need a fact which no passage states; their reference is "unknown". */
  unanswerable?: number;
  distractors?: number;
}

/** A fictional encyclopedia: passages and questions by number, a pure function of (seed, split, people, number) on every machine. */
export interface TinyWorld {
  readonly seed: number;
  readonly split: TinyWorldSplit;
  readonly people: number;
  /** Number of passages: 1.7 times `people` with one for each entity, 5.6 times with one for each fact. */
  readonly size: number;
  /** @param index from 0 to `size` - 1. @throws {ConfigError} RECIPE_BAD_VALUE */
  passage(index: number): TinyPassage;
  passages(): Generator<TinyPassage>;
  /** @param number any integer from 0; small numbers give distinct questions. @throws {ConfigError} RECIPE_BAD_VALUE; TINY_WORLD_TOO_SMALL */
  question(number: number, options?: TinyWorldQuestionOptions): Task;
  questions(count: number, options?: TinyWorldQuestionOptions): Generator<Task>;
}

/**
 * A world of fictional people, towns, regions, firms, works and events that no model has memorised: a right answer requires a search.
 * @param options.split worlds of different splits share the language but no entity; of one split with different seeds mostly other names.
 * @param options.people 2 to 10⁶, with 1.7 passages each. Names have two words up to about 8 000 people and three beyond.
 * @throws {ConfigError} RECIPE_BAD_VALUE. @example tinyWorld({ seed: 7, split: "train", people: 1000 }).size // 1700
 */
export function tinyWorld(options: TinyWorldSettings): TinyWorld {
  const settings = parseOptions(tinyWorldSchema, options, "tinyworld");
  const { seed, split, people } = settings;
  const facts = tinyWorldFacts(seed, split, people, settings);
  const pages = pagesOf(facts, settings);
  const draw = questionDrawer(facts);
  const place = { facts, pages, settings };
  const passage = (index: number): TinyPassage => {
    requireWithin("passage", index, pages.size);
    const page = pages.page(index);
    const sentences = passageSentences(facts, page, index, settings).map(({ text }) => text);
    return {
      id: passageId(split, index),
      title: facts.title(page.entity),
      text: sentences.join(" "),
      sentences,
      source: settings.sources > 1 ? page.source : undefined,
    };
  };
  const question = (number: number, asked: TinyWorldQuestionOptions = {}): Task => {
    requireWithin("question", number, Number.MAX_SAFE_INTEGER);
    const draft = draw(number, { ...asked, mix: { ...DEFAULT_MIX, ...asked.mix } });
    const task = taskOf(place, `tinyworld-${split}-${seed}-${number}`, draft);
    const wanted = asked.distractors ?? 0;
    if (wanted > 0)
      task.annotations.context = contextPages(place, draft, wanted, number).map(passage);
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
  const message = `tinyworld: ${what} number is ${number}; it must be an integer from 0 to ${end - 1}.`;
  throw new ConfigError("RECIPE_BAD_VALUE", message);
}

/** The one small world that a policy can learn by heart in pre-training: the same facts in every run. */
const KNOWN = { split: "base", seed: 0, people: 60 } as const;

/** The world known by heart, its passages written as those of `like`. */
export function knownWorld(settings: Partial<TinyWorldSettings> = {}): TinyWorld {
  const { passages, wordings, filler, sources } = settings;
  return tinyWorld({ ...KNOWN, passages, wordings, filler, sources });
}

/** The wrong answer of a faulty memory to a known world's chain; null: remembered rightly. @param share of entities, 0 to 1. */
export function misremembered(task: Task, share: number): string | null {
  const last = task.annotations.decomposition?.at(-1)?.question;
  if (task.annotations.type !== "bridge" || last === undefined) return null;
  wrongAnswers ??= allWrongAnswers();
  const wrong = wrongAnswers.get(last);
  return wrong !== undefined && isWithin(share, wrong.bits) ? wrong.value : null;
}

/** A chain's answers as a faulty memory has them; null: no chain, or a wrong step before the last. @param share of entities, 0 to 1. */
export function rememberedSteps(task: Task, share: number): string[] | null {
  const { type, decomposition = [] } = task.annotations;
  if (type !== "bridge") return null;
  const wrong = decomposition.map((each) =>
    misremembered({ ...task, annotations: { type, decomposition: [each] } }, share),
  );
  if (wrong.slice(0, -1).some((each) => each !== null)) return null;
  return decomposition.map(({ answer }, i) => wrong[i] ?? answer);
}

let wrongAnswers: Map<string, { value: string; bits: number }> | undefined;

/** By step: a wrong value, and the bits that decide whether its entity is misremembered. */
function allWrongAnswers(): Map<string, { value: string; bits: number }> {
  const { seed, split, people } = KNOWN;
  const facts = tinyWorldFacts(seed, split, people, { namesakes: 0, aliases: 0, missing: 0 });
  return new Map(
    Array.from({ length: facts.size }, (_, entity) =>
      RELATIONS_OF[facts.kind(entity)].map((relation) => {
        const value = valueText(facts, relation, wrongValue(facts, entity, relation));
        const bits = seedFrom("misremembered", facts.name(entity));
        return [step(relation, facts.name(entity)), { value, bits }] as const;
      }),
    ).flat(),
  );
}
