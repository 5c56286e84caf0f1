import { type Random, random, seedFrom } from "../../../base/random.ts";
import { z } from "../../../base/schema.ts";
import { type DatasetPart, defineDataset } from "../../../data/dataset.ts";
import {
  ENTAILMENT,
  type Entailment,
  ROLE_REPLY,
  entailmentPrompt,
  numberedPassages,
  readerPrompt,
  simulatorPrompt,
} from "../../../trajectory/role-prompts.ts";
import type { Passage, Task } from "../../../trajectory/task.ts";
import type { Relation } from "../relations.ts";
import { UNKNOWN, fill, readStep, stepQueries } from "../text.ts";
import {
  TINY_WORLD_VERSION,
  type TinyWorldMix,
  mixSchema,
  tinyWorldSchema,
} from "../tiny-world-settings.ts";
import { type TinyWorld, tinyWorld } from "../tiny-world.ts";

/** Increases with every change of a byte of any exercise; part of a result's fingerprint. */
const EXERCISES_VERSION = 2;

/** Settings that all kinds of exercises have: those of their worlds, and how many there are. */
export const exercisesSchema = tinyWorldSchema.extend({
  /** People of each world. Many small worlds, so that no fact is learned by heart. */
  people: z.int().min(40).max(1_000_000).default(300),
  /** Number of exercises. */
  questions: z.int().min(1).default(500),
});

const PER_WORLD = 50;

/** What an exercise is made of. */
export type ExercisePlace = { world: TinyWorld; number: number; draw: Random };

export interface Exercise {
  prompt: string;
  /** What the role shall reply; others are accepted as well. */
  replies: readonly [string, ...string[]];
  type: string;
}

interface Kind<Settings extends z.output<typeof exercisesSchema>> {
  name: string;
  summary: string;
  options: z.ZodType<Settings> & DatasetPart["options"];
  make: (place: ExercisePlace, settings: Settings) => Exercise;
}

/** Exercises for a role: a question is the prompt up to the answer's opening tag, the first reference the reply (strategy direct). */
export function exercises<Settings extends z.output<typeof exercisesSchema>>({
  name,
  summary,
  options,
  make,
}: Kind<Settings>): DatasetPart {
  return defineDataset({
    name,
    summary,
    version: `${EXERCISES_VERSION}-${TINY_WORLD_VERSION}`,
    options,
    open: (given) => {
      const settings = given as Settings;
      return { stream: (limit) => drawn(name, settings, limit, (place) => make(place, settings)) };
    },
  });
}

function* drawn(
  name: string,
  settings: z.output<typeof exercisesSchema>,
  limit: number,
  make: (place: ExercisePlace) => Exercise,
): Generator<Task> {
  const { seed, split, questions } = settings;
  const ofWorld = tinyWorldSchema.strip().parse(settings);
  let world: TinyWorld | undefined;
  for (let at = 0; at < Math.min(limit, questions); at++) {
    const number = at % PER_WORLD;
    const worldSeed = seedFrom(name, seed, (at - number) / PER_WORLD);
    if (number === 0 || world === undefined) world = tinyWorld({ ...ofWorld, seed: worldSeed });
    const draw = random(seed).derive(name, split, at);
    const { prompt, replies, type } = make({ world, number, draw });
    yield {
      id: `${name}-${split}-${seed}-${at}`,
      question: prompt.slice(0, -ROLE_REPLY.opening.length),
      references: [...replies],
      source: name,
      annotations: { type },
    };
  }
}

/** No kind of question; a mix names those that it wants. */
export const NO_QUESTIONS: Readonly<TinyWorldMix> = {
  bridge1: 0,
  bridge2: 0,
  bridge3: 0,
  bridge4: 0,
  bridge5: 0,
  bridge6: 0,
  comparison: 0,
  yesNo: 0,
  intersect: 0,
  compareChains: 0,
};

type AskedFact = { relation: Relation; name: string; value: string };

/** The facts of a chain, from the question's entity outwards. */
export function askedFacts({ annotations: { decomposition = [] } }: Task): AskedFact[] {
  return decomposition.flatMap(({ question, answer }) => {
    const step = readStep(question);
    return step === null ? [] : [{ ...step, value: answer }];
  });
}

function shownPassages({ annotations }: Task): { all: Passage[]; needed: Passage[] } {
  const { context: all = [], supportingPassages = [] } = annotations;
  return { all, needed: all.filter(({ id }) => supportingPassages.includes(id)) };
}

/** Another value of a relation than this one, from the same world. */
export function otherValue(
  world: TinyWorld,
  { relation, value }: Pick<AskedFact, "relation" | "value">,
  draw: Random,
): string {
  for (;;) {
    const number = draw.int(MANY_QUESTIONS);
    const asked = { mix: { ...NO_QUESTIONS, bridge1: 1 }, relations: [relation.name] };
    const [other = value] = world.question(number, asked).references;
    if (other !== value) return other;
  }
}

const MANY_QUESTIONS = 10_000;

/** For readers: passages and a question, whose short answer they state. */
export const readerExercises: DatasetPart = exercises({
  name: "reader-exercises",
  summary: "Passages and a question, for a role that reads.",
  options: exercisesSchema.extend({
    mix: mixSchema.prefault({}),
    /** Passages shown, at least and at most; never fewer than the question needs. */
    shown: z
      .tuple([z.int().min(1), z.int().max(20)])
      .refine(([least, most]) => least <= most, "expected the smaller number first")
      .default([1, 3]),
    /** Share of the exercises that lack a passage, so that the reply is "unknown". */
    absent: z.number().min(0).max(1).default(0.15),
  }),
  make({ world, number, draw }, { mix, shown: [least, most], absent }) {
    const distractors = least + draw.int(most - least + 1);
    const task = world.question(number, { mix, distractors });
    const { all, needed } = shownPassages(task);
    const { question, references, annotations } = task;
    const [answer = ""] = references;
    const kind = `${annotations.type ?? ""} ${annotations.hops ?? ""}`;
    if (all.length === 1 || draw.next() >= absent)
      return { prompt: readerPrompt({ passages: all, question }), replies: [answer], type: kind };
    const left = draw.pick(needed);
    const passages = all.filter((passage) => passage !== left);
    return { prompt: readerPrompt({ passages, question }), replies: [UNKNOWN], type: UNKNOWN };
  },
});

/**
 * For simulated search engines: a query, its question and answer, and whether passages shall be useful: the one that the query looks for and
 * another, or two others. The simulator cannot know a value on the way to the answer, so it learns to invent one.
 * Source: the simulators of ZeroSearch, arXiv 2505.04588, tuned on trajectories. Different here: the queries are those of gold chains.
 */
export const simulatorExercises: DatasetPart = exercises({
  name: "simulator-exercises",
  summary: "Queries, for a role that writes passages.",
  options: exercisesSchema.extend({
    mix: mixSchema.prefault({ comparison: 0, yesNo: 0 }),
    /** Share of noisy passages. */
    noisy: z.number().min(0).max(1).default(0.5),
    /** Share of the queries that use a word of a passage in place of the fact's label. */
    reworded: z.number().min(0).max(1).default(0.5),
  }),
  make({ world, number, draw }, { mix, noisy, reworded }) {
    const task = world.question(number, { mix, distractors: 8 });
    const { question, references, annotations } = task;
    const [answer = ""] = references;
    const steps = annotations.decomposition ?? [];
    const at = draw.int(steps.length);
    const step = steps[at];
    const { all, needed } = shownPassages(task);
    const isOther = (passage: Passage): boolean =>
      !needed.includes(passage) && !`${passage.title} ${passage.text}`.includes(answer);
    const others = draw.shuffle(all.filter(isOther));
    const wanted = all.find(({ id }) => id === step?.passage);
    const label = step?.question ?? "";
    const query = draw.next() < reworded ? draw.pick(stepQueries(label)) : label;
    const isUseful = wanted !== undefined && draw.next() >= noisy;
    const passages = isUseful ? [wanted, ...others.slice(0, 1)] : others.slice(0, 2);
    const quality = isUseful ? "useful" : "noisy";
    const reply = numberedPassages(passages);
    const isLast = at === steps.length - 1;
    return {
      prompt: simulatorPrompt({ query, question, answer, quality }),
      // The answer beside the whole reply lets cover-EM count the passages that state it.
      replies: isUseful && isLast ? [reply, answer] : [reply],
      type: `${quality} ${isLast ? "last" : "earlier"}`,
    };
  },
});

/** For entailment verifiers: passages and a sentence about one fact, which they state as it does, or with another value, or not at all. */
export const entailmentExercises: DatasetPart = exercises({
  name: "entailment-exercises",
  summary: "Passages and a sentence, for a role that verifies.",
  options: exercisesSchema.extend({
    /** Passages shown, at most. */
    shown: z.int().min(2).max(20).default(3),
  }),
  make({ world, number, draw }, { shown }) {
    const mix = { ...NO_QUESTIONS, bridge1: 1 };
    const task = world.question(number, { mix, distractors: 2 + draw.int(shown - 1) });
    const { all, needed } = shownPassages(task);
    const [fact] = askedFacts(task);
    if (fact === undefined) throw new TypeError(`${task.id}: a chain of one hop has one fact.`);
    const label = draw.pick(LABELS);
    const isFalse = label === "contradicted" || (label === "neutral" && draw.int(2) === 0);
    const value = isFalse ? otherValue(world, fact, draw) : fact.value;
    const passages = label === "neutral" ? all.filter((each) => !needed.includes(each)) : all;
    const sentence = claim({ ...fact, value }, draw);
    return {
      prompt: entailmentPrompt({ passages, sentence }),
      replies: [label === "neutral" ? ENTAILMENT[label] : `${fact.value} ${ENTAILMENT[label]}`],
      type: label,
    };
  },
});

const LABELS = Object.keys(ENTAILMENT) as Entailment[];

/** A sentence that states a fact: by its label, or by a wording that names the entity and needs no noun. */
function claim({ relation, name, value }: AskedFact, draw: Random): string {
  const wordings = relation.wordings
    .map(({ statement }) => statement)
    .filter((statement) => /\{(s|ref)\}/.test(statement) && !statement.includes("{noun}"));
  const statement = draw.pick([`The ${relation.label} of {s} is {o}.`, ...wordings]);
  return fill(statement, { s: name, ref: name, o: value });
}
