import type { Passage, Task } from "../../trajectory/task.ts";
import type { ChainReading, PassageReading, QuestionReading } from "./reading.ts";
import type { Relation } from "./relations.ts";
import { UNKNOWN, aliasStep, inverseStep, step } from "./text.ts";

/** A defect of a tiny world. */
export interface TinyWorldProblem {
  where: string;
  code:
    | "passage-unreadable"
    | "id-twice"
    | "fact-twice"
    | "rumour-true"
    | "question-unreadable"
    | "chain-broken"
    | "gold-differs"
    | "answer-differs"
    | "name-given-away"
    | "single-passage-answer";
  message: string;
}

type ReadPassage = { passage: Passage; reading: PassageReading };

/** What the passages say that questions need. */
export interface Seen {
  passages: Map<string, ReadPassage[]>;
  aliases: Map<string, ReadPassage>;
  /** Id and stated names and years of the passages that name an entity. */
  naming: Map<string, { id: string; words: Set<string> }[]>;
  /** The entities with a value, by `<relation> <value>`; null when no question needs them. */
  subjects: Map<string, string[]> | null;
}

export function problem(
  where: string,
  code: TinyWorldProblem["code"],
  message: string,
): TinyWorldProblem {
  return { where, code, message };
}

interface Step {
  question: string;
  answer: string;
  /** Null: no passage states it. */
  passage: Passage | null;
  title: string;
  sentence: number;
  /** Values that a less reliable source gives for the fact. */
  rumours: string[];
}

/** Problems of one question. */
export function checkQuestion(
  task: Task,
  readings: readonly QuestionReading[],
  seen: Seen,
): TinyWorldProblem[] {
  const [reading] = readings;
  if (reading === undefined || readings.length > 1) {
    const found = readings.length === 0 ? "cannot be read" : "can be read in several ways";
    return [problem(task.id, "question-unreadable", `"${task.question}" ${found}`)];
  }
  try {
    const found = solve(reading, seen);
    const last = found.steps.at(-1);
    // Only a chain may end where no passage goes on, and only if the question says so.
    if (last?.passage === null && task.annotations.answerable !== false)
      return [problem(task.id, "chain-broken", `no passage states the ${last.question}`)];
    return [
      ...checkGold(task, reading, found.steps),
      ...checkAnswer(task, found),
      ...checkSecrets(task, reading, found.steps),
      ...checkShortcuts(task, found, seen),
      ...checkRumours(task, found.steps),
    ];
  } catch (error) {
    if (error instanceof Unsolvable) return [problem(task.id, "chain-broken", error.message)];
    throw error;
  }
}

class Unsolvable extends Error {}

interface Solution {
  steps: Step[];
  /** Null: the question has no answer, because the years are equal. */
  answer: string | null;
  /** The pairs of which no passage may name both. */
  apart: [string, string][];
}

function solve(reading: QuestionReading, seen: Seen): Solution {
  switch (reading.type) {
    case "bridge": {
      const { steps, start, end } = followed(reading, seen);
      const isOneHop = reading.chain.length === 1;
      return { steps, answer: end, apart: isOneHop || end === UNKNOWN ? [] : [[start, end]] };
    }
    case "comparison":
    case "yes-no": {
      const { relation } = reading;
      const [a, b] = [reading.x, reading.y].map((anchor) =>
        followed({ anchor, chain: [relation] }, seen),
      ) as [Followed, Followed];
      const answer = reading.type === "comparison" ? earlier(a, b) : a.end === b.end ? "yes" : "no";
      return { steps: [...a.steps, ...b.steps], answer, apart: [[a.start, b.start]] };
    }
    case "compare-chains": {
      const [a, b] = [reading.x, reading.y].map(({ anchor, chain }) =>
        followed({ anchor, chain: [...chain, reading.relation] }, seen),
      ) as [Followed, Followed];
      return {
        steps: [...a.steps, ...b.steps],
        answer: earlier(a, b),
        apart: [
          [a.start, b.start],
          [a.last, b.last],
        ],
      };
    }
    case "intersect":
      return intersected(reading, seen);
  }
}

type Followed = { steps: Step[]; start: string; last: string; end: string };

/** Follows a chain to its value, or to the first fact that no passage states. */
function followed({ anchor, chain }: ChainReading, seen: Seen): Followed {
  const { steps, name: start } = resolved(anchor, seen);
  let [last, end] = [start, start];
  for (const relation of chain) {
    last = end;
    const found = lookUp(last, relation, seen);
    steps.push(found);
    end = found.answer;
    if (found.passage === null) break;
  }
  return { steps, start, last, end };
}

/** The entity that a question calls by this name, and the step for a second name. */
function resolved(anchor: string, seen: Seen): { steps: Step[]; name: string } {
  const found = seen.aliases.get(anchor);
  if (found === undefined) return { steps: [], name: anchor };
  const { passage, reading } = found;
  const { name, alias } = reading;
  const sentence = alias?.sentence ?? 0;
  return {
    name,
    steps: [
      {
        question: aliasStep(anchor),
        answer: name,
        passage,
        title: passage.title,
        sentence,
        rumours: [],
      },
    ],
  };
}

function lookUp(name: string, relation: Relation, seen: Seen): Step {
  const about = seen.passages.get(name);
  if (about === undefined)
    throw new Unsolvable(`no passage (of the gold chain) is about "${name}"`);
  const question = step(relation, name);
  const rumours = about
    .flatMap(({ reading }) => reading.rumours)
    .filter((rumour) => rumour.relation === relation)
    .map(({ value }) => value);
  for (const { passage, reading } of about) {
    const fact = reading.facts.get(relation.name);
    if (fact === undefined) continue;
    const { value: answer, sentence } = fact;
    return { question, answer, passage, title: passage.title, sentence, rumours };
  }
  return { question, answer: UNKNOWN, passage: null, title: name, sentence: 0, rumours };
}

function intersected(
  { x, y, conditions }: Extract<QuestionReading, { type: "intersect" }>,
  seen: Seen,
): Solution {
  const ends = [x, y].map((anchor) => resolved(anchor, seen));
  const met = conditions.map((chain, i) =>
    chain
      .toReversed()
      .reduce(
        (values, relation) =>
          values.flatMap((value) => seen.subjects?.get(`${relation.name} ${value}`) ?? []),
        [ends[i]?.name ?? ""],
      ),
  );
  const [a = [], b = []] = met;
  const both = a.filter((name) => b.includes(name));
  const [answer] = both;
  if (answer === undefined || both.length > 1)
    throw new Unsolvable(`${both.length} entities meet both conditions`);
  if (a.length < 2 || b.length < 2)
    throw new Unsolvable(`one condition alone is met by "${answer}" only`);
  const steps = conditions.flatMap((chain, i) => {
    const { steps: forward } = followed({ anchor: answer, chain: [...chain] }, seen);
    const inverse = forward.map((each, hop) => ({
      ...each,
      question: inverseStep(chain[hop] as Relation, each.answer),
      answer: hop === 0 ? answer : (forward[hop - 1]?.answer ?? ""),
    }));
    return [...(ends[i]?.steps ?? []), ...inverse.toReversed()];
  });
  return { steps, answer, apart: [] };
}

function earlier(a: Followed, b: Followed): string | null {
  if (a.end === b.end) return null;
  return Number(a.end) < Number(b.end) ? a.last : b.last;
}

function checkGold(
  task: Task,
  reading: QuestionReading,
  steps: readonly Step[],
): TinyWorldProblem[] {
  const { annotations } = task;
  const stated = steps.flatMap(({ passage, ...each }) =>
    passage === null ? [] : [{ ...each, passage }],
  );
  const expected: [string, unknown, unknown][] = [
    ["type", annotations.type, reading.type],
    ["hops", annotations.hops, steps.length],
    ["supportingPassages", annotations.supportingPassages, stated.map(({ passage }) => passage.id)],
    [
      "supportingFacts",
      annotations.supportingFacts,
      stated.map(({ title, sentence }) => ({ title, sentence })),
    ],
    [
      "decomposition",
      annotations.decomposition,
      steps.map(({ question, answer, passage }) => ({
        question,
        answer,
        passage: passage?.id ?? null,
      })),
    ],
    // The store of a missing fact is in no text.
    ["route", annotations.route?.slice(0, stated.length), routeOf(stated)],
  ];
  return expected
    .filter(([field]) => field !== "route" || stated.length > 0)
    .filter(([, gold, read]) => JSON.stringify(gold) !== JSON.stringify(read))
    .map(([field, gold, read]) =>
      problem(
        task.id,
        "gold-differs",
        `${field} is ${JSON.stringify(gold)}; the text says ${JSON.stringify(read)}`,
      ),
    );
}

function routeOf(stated: readonly { passage: Passage }[]): string[] | undefined {
  const sources = stated.flatMap(({ passage }) => passage.source ?? []);
  return sources.length === 0 ? undefined : sources;
}

function checkAnswer(task: Task, { steps, answer }: Solution): TinyWorldProblem[] {
  const isKnown = steps.every(({ passage }) => passage !== null);
  const isMarked = task.annotations.answerable !== false;
  if (task.references.length === 1 && task.references[0] === answer && isKnown === isMarked)
    return [];
  const found = JSON.stringify(task.references);
  const message =
    answer === null
      ? `both subjects have the year ${steps.at(-1)?.answer ?? ""}: the question has no answer`
      : `references are ${found}, answerable is ${isMarked}; the text says "${answer}"`;
  return [problem(task.id, "answer-differs", message)];
}

/** The question must not contain a name on the way or its answer, and a chain must not visit an entity twice. */
function checkSecrets(
  task: Task,
  reading: QuestionReading,
  steps: readonly Step[],
): TinyWorldProblem[] {
  const values = steps.map(({ answer }) => answer);
  const given = values.find((value) => task.question.includes(value));
  if (given !== undefined)
    return [problem(task.id, "name-given-away", `the question contains "${given}"`)];
  if (reading.type === "bridge" && new Set(values).size < values.length)
    return [problem(task.id, "name-given-away", "the chain visits one entity twice")];
  return [];
}

function checkShortcuts(task: Task, { apart }: Solution, seen: Seen): TinyWorldProblem[] {
  return apart.flatMap(([name, other]) =>
    (seen.naming.get(name) ?? [])
      .filter(({ words }) => words.has(other))
      .map(({ id }) =>
        problem(
          task.id,
          "single-passage-answer",
          `passage ${id} contains both "${name}" and "${other}"`,
        ),
      ),
  );
}

function checkRumours(task: Task, steps: readonly Step[]): TinyWorldProblem[] {
  return steps
    .filter(({ answer, rumours }) => rumours.includes(answer))
    .map(({ question, answer }) =>
      problem(task.id, "rumour-true", `a rumour gives the right ${question}, "${answer}"`),
    );
}
