import { ConfigError } from "../../base/errors.ts";
import { sha256 } from "../../base/files.ts";
import { type Random, random } from "../../base/random.ts";
import { z } from "../../base/schema.ts";
import type { Task } from "../../trajectory/task.ts";
import { FIRST_NAMES } from "../tiny/names.ts";
import { TINY_WORLD_SPLITS } from "../tiny/splits.ts";
import {
  answerText,
  fits,
  forced,
  type Form,
  FORM_NAMES,
  type Is,
  isText,
  partsOf,
  type Puzzle,
  puzzleText,
  solutionsOf,
  type Statement,
} from "./puzzle.ts";

const MOST_PEOPLE = 8;

/** Options of the dataset. */
export const options = z.strictObject({
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

/** Puzzles, drawn one by one. */
export function* tasks(settings: Settings): Generator<Task> {
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

/** Draws puzzles until one has exactly one solution and belongs to the split. */
function puzzleOf(draw: Random, settings: Settings): Solved {
  for (let attempt = 0; attempt < MOST_DRAWN; attempt++) {
    const drawn = drawnStatements(draw, settings);
    if (drawn === null || splitOf(drawn.statements) !== settings.split) continue;
    const puzzle = { ...drawn, names: draw.shuffle(FIRST_NAMES).slice(0, drawn.knights.length) };
    if (solutionsOf(puzzle).length === 1) return puzzle;
  }
  throw new ConfigError(
    "RECIPE_BAD_VALUE",
    `knights-knaves: of ${MOST_DRAWN} puzzles with forms ${JSON.stringify(settings.forms)} and stepwise ${settings.stepwise}, none has exactly one solution. Allow forms of two parts (and, or, if, iff) as well.`,
  );
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
