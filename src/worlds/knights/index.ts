import { ConfigError, RolloutError } from "../../base/errors.ts";
import { sha256 } from "../../base/files.ts";
import { type Random, random } from "../../base/random.ts";
import { z } from "../../base/schema.ts";
import type { PlannedMessage } from "../../env/protocols/protocol.ts";
import { defineTeacher } from "../../env/teacher.ts";
import type { WorldReport } from "../../env/world-folder.ts";
import { defineWorld } from "../../env/world.ts";
import type { Task } from "../../trajectory/task.ts";
import { FIRST_NAMES } from "../tiny/names.ts";
import { TINY_WORLD_SPLITS } from "../tiny/permutation.ts";
import {
  FORM_NAMES,
  type Form,
  type Is,
  type Puzzle,
  type Statement,
  answerText,
  deduction,
  fits,
  forced,
  isText,
  partsOf,
  puzzleText,
  readPuzzle,
  solutionsOf,
  statementText,
} from "./puzzle.ts";

const MOST_PEOPLE = 8;

/** Options of the dataset. */
const options = z.strictObject({
  seed: z.int().min(0).default(7),
  /** Splits share no puzzle, by any names. Pre-train on base. */
  split: z.enum(TINY_WORLD_SPLITS).default("train"),
  questions: z.int().min(1).default(500),
  /** People of a puzzle: at least and at most. */
  people: z
    .tuple([z.int().min(3), z.int().max(MOST_PEOPLE)])
    .refine(([least, most]) => least <= most, "expected the smaller number first")
    .default([3, 5]),
  /** Shares of the kinds of claims before puzzles without exactly one solution are dropped. */
  forms: z
    .partialRecord(z.enum(FORM_NAMES), z.number().min(0))
    .refine(
      (shares) => Object.values(shares).some((share) => share > 0),
      "expected a share above 0",
    )
    .default({ is: 1, not: 1, and: 1, or: 1, if: 1, iff: 1 }),
  /** Only puzzles that can be solved person by person in the order in which they speak, each from what they say and the people before. */
  stepwise: z.boolean().default(false),
});

type Settings = z.output<typeof options>;

function* tasks(settings: Settings): Generator<Task> {
  const { seed, split, questions } = settings;
  for (let i = 0; i < questions; i++) {
    const draw = random(seed).derive("knights-knaves", split, i);
    yield { id: `knights-knaves-${split}-${seed}-${i}`, ...task(puzzleOf(draw, settings)) };
  }
}

function task({ knights, ...puzzle }: Solved): Omit<Task, "id"> {
  return {
    question: puzzleText(puzzle),
    references: [answerText(puzzle, knights)],
    source: "knights-knaves",
    annotations: {
      type: `${puzzle.names.length} people`,
      decomposition: puzzle.names.map((name, person) => {
        const answer = isText(name, knights[person] ?? false);
        return { question: `Who is ${name}?`, answer, passage: null };
      }),
    },
  };
}

interface Solved extends Puzzle {
  knights: readonly boolean[];
}

/** Drawn puzzles before settings are given up on: of the usual ones, one in a few dozens is kept. */
const MOST_DRAWN = 2000;

/** Statements drawn for one person before a puzzle is given up on. */
const MOST_STATEMENTS = 200;

function puzzleOf(draw: Random, settings: Settings): Solved {
  for (let attempt = 0; attempt < MOST_DRAWN; attempt++) {
    const drawn = drawnStatements(draw, settings);
    if (drawn === null || splitOf(drawn.statements) !== settings.split) continue;
    const puzzle = { ...drawn, names: draw.shuffle(FIRST_NAMES).slice(0, drawn.knights.length) };
    if (solutionsOf(puzzle).length === 1) return puzzle;
  }
  const message = `knights-knaves: of ${MOST_DRAWN} puzzles with forms ${JSON.stringify(settings.forms)} and stepwise ${settings.stepwise}, none has exactly one solution. Allow forms of two parts (and, or, if, iff) as well.`;
  throw new ConfigError("RECIPE_BAD_VALUE", message);
}

/** Statements that fit a drawn solution, which others may fit as well; null where none was found for somebody. */
function drawnStatements(draw: Random, settings: Settings): Omit<Solved, "names"> | null {
  const [least, most] = settings.people;
  const people = Array.from({ length: least + draw.int(most - least + 1) }, (_, i) => i);
  const knights = people.map(() => draw.int(2) === 0);
  const statements = people.flatMap((speaker): Statement[] => {
    const before = people.map((each) => (each < speaker ? knights[each] : undefined));
    for (let attempt = 0; attempt < MOST_STATEMENTS; attempt++) {
      const statement = drawnStatement(draw, { speaker, people, forms: settings.forms });
      const isRight = settings.stepwise
        ? forced(statement, before) === knights[speaker]
        : fits(statement, knights);
      if (isRight) return [statement];
    }
    return [];
  });
  return statements.length < people.length ? null : { knights, statements };
}

function drawnStatement(
  draw: Random,
  { speaker, people, forms }: Pick<Settings, "forms"> & { speaker: number; people: number[] },
): Statement {
  const form = drawnForm(draw, forms);
  const said = draw.shuffle(people.filter((each) => isAbout(each, speaker, form)));
  const parts = said.slice(0, partsOf(form)).map((person): Is => {
    return { person, knight: draw.int(2) === 0 };
  });
  return { speaker, form, parts };
}

/** Nobody speaks of themselves alone: everyone would say "I am a knight", and nobody "I am a knave". */
function isAbout(person: number, speaker: number, form: Form): boolean {
  return person !== speaker || partsOf(form) === 2;
}

function drawnForm(draw: Random, forms: Settings["forms"]): Form {
  const total = FORM_NAMES.reduce((sum, form) => sum + (forms[form] ?? 0), 0);
  let left = draw.next() * total;
  return FORM_NAMES.find((form) => (left -= forms[form] ?? 0) < 0) ?? "is";
}

/** By the statements without the names, so that no split has another's puzzle about other people. */
function splitOf(statements: readonly Statement[]): Settings["split"] | undefined {
  const digits = sha256(JSON.stringify(statements)).slice(0, 6);
  return TINY_WORLD_SPLITS[parseInt(digits, 16) % TINY_WORLD_SPLITS.length];
}

const share = z.number().min(0).max(1);

/** Probabilities of what the teacher knights-plan does; the defaults solve every puzzle. */
export const knightsBehaviourSchema = z.strictObject({
  /** That a conclusion is wrong. Later steps use it. */
  slip: share.default(0),
  /** To take no step for a person, and to guess in the end. */
  skip: share.default(0),
  /** To answer person by person, with the whole answer last; else everything is thought first and answered at once. */
  interleave: share.default(1),
});

type KnightsBehaviour = z.output<typeof knightsBehaviourSchema>;

const LAST_THOUGHT = "Now all are known.";

/**
 * Solves puzzles of knights and knaves person by person, with slips and guesses in given proportions; equal question and seed give the
 * same message. @throws TEACHER_GAVE_UP for another question, or one that needs cases; TEACHER_CANNOT_PLAY (the run stops) for a strategy
 * that has its own prompts or begins the message.
 */
export const knightsTeacher = defineTeacher({
  name: "knights-plan",
  summary: "Deduces puzzles of knights and knaves person by person.",
  options: z.strictObject({ behaviour: knightsBehaviourSchema.prefault({}) }),
  open:
    ({ behaviour }) =>
    ({ task, seed, ownPrompt, prefill, protocol, tools }) => {
      if (ownPrompt || prefill !== "") throw cannotPlay();
      const puzzle = readPuzzle(task.question);
      const draw = random(seed).derive("knights-plan", task.id);
      const messages = puzzle === null ? null : knightsPlan(puzzle, behaviour, draw);
      if (messages === null) throw gaveUp();
      return messages.map((each) => protocol.write(each, tools)).join("");
    },
});

/** The thoughts and answers of a solution, the whole answer last; null where some person does not follow from those before. */
export function knightsPlan(
  puzzle: Puzzle,
  { slip, skip, interleave }: KnightsBehaviour,
  draw: Random,
): PlannedMessage[] | null {
  const steps = deduction(puzzle);
  if (steps === null) return null;
  const { names } = puzzle;
  const believed: (boolean | undefined)[] = names.map(() => undefined);
  const isAbout = (person: number): string =>
    isText(names[person] ?? "", believed[person] ?? false);
  const isInterleaved = draw.next() < interleave;
  const taken: { thought: string; answer: string }[] = [];
  for (const { person, statement, from } of steps) {
    const guess = draw.int(2) === 0;
    if (draw.next() < skip) {
      believed[person] = guess;
      continue;
    }
    const thought = [...from.map((each) => `${isAbout(each)}.`), statementText(puzzle, statement)];
    // After a wrong step a statement may leave both open.
    const right = forced(statement, believed) ?? guess;
    believed[person] = draw.next() < slip ? !right : right;
    taken.push({ thought: thought.join(" "), answer: isAbout(person) });
  }
  const knights = believed.map((each) => each ?? false);
  const last = { tool: "answer", input: answerText(puzzle, knights) };
  if (!isInterleaved) {
    const thought = taken.map((each) => `${each.thought} So ${each.answer}.`).join(" ");
    return [{ thought: thought === "" ? LAST_THOUGHT : thought, action: last }];
  }
  return [
    ...taken.map(({ thought, answer }) => {
      return { thought, action: { tool: "answer", input: answer } };
    }),
    { thought: LAST_THOUGHT, action: last },
  ];
}

function cannotPlay(): ConfigError {
  const message =
    "teacher knights-plan: it writes whole messages, and the strategy has its own prompts or begins the message. Choose strategy: agent or direct, or a teacher with a model.";
  return new ConfigError("TEACHER_CANNOT_PLAY", message);
}

function gaveUp(): RolloutError {
  const message =
    "teacher knights-plan: the question cannot be solved person by person. It needs puzzles of the dataset knights-knaves with stepwise: true.";
  return new RolloutError("TEACHER_GAVE_UP", message);
}

/** Verifies puzzles from their text: each can be read, and has exactly one solution, which is its reference. */
export function checkPuzzles(tasks: readonly Task[]): WorldReport {
  const problems = tasks.flatMap((task) => {
    const fault = faultOf(task);
    return fault === null ? [] : [{ where: task.id, ...fault }];
  });
  return { counts: { questions: tasks.length }, problems };
}

function faultOf({ question, references }: Task): { code: string; message: string } | null {
  const puzzle = readPuzzle(question);
  if (puzzle === null) return { code: "question-unreadable", message: "the text is no puzzle" };
  const [knights, ...others] = solutionsOf(puzzle);
  if (knights === undefined || others.length > 0) {
    const count = knights === undefined ? 0 : 1 + others.length;
    return { code: "solution-open", message: `the puzzle has ${count} solutions, not one` };
  }
  const answer = answerText(puzzle, knights);
  if (references.includes(answer)) return null;
  return { code: "answer-differs", message: `the statements give "${answer}"` };
}

/**
 * Puzzles of knights, who always say the truth, and knaves, who always lie. Everyone makes one statement, and exactly one assignment fits
 * all of them. Sub-answers are the truth values, person by person.
 * Source: the form of arXiv 2410.23123 (Logic-RL, arXiv 2502.14768, trains on it). Different here: one statement a person of at most two parts.
 */
export const knights = defineWorld({
  name: "knights-knaves",
  summary: "Generated puzzles of three to eight knights and knaves.",
  options,
  tasks,
  check: ({ tasks }) => checkPuzzles(tasks),
  teachers: [knightsTeacher],
  bases: ["deducing", "deducing-asked", "deducing-last"],
});
