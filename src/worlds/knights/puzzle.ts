/** Puzzles of knights, who always say the truth, and knaves, who always lie: their sentences, and what follows from them. */

/** A person and what they are said to be. */
export type Is = { person: number; knight: boolean };

/** How one or two parts make a claim: in words, where {0} and {1} are the parts, and whether it is true. */
const FORMS = {
  is: { text: "{0}", parts: 1, holds: (a: boolean) => a },
  not: { text: "it is not true that {0}", parts: 1, holds: (a: boolean) => !a },
  and: { text: "{0} and {1}", parts: 2, holds: (a: boolean, b: boolean) => a && b },
  or: { text: "{0} or {1}", parts: 2, holds: (a: boolean, b: boolean) => a || b },
  if: { text: "if {0} then {1}", parts: 2, holds: (a: boolean, b: boolean) => !a || b },
  iff: { text: "{0} if and only if {1}", parts: 2, holds: (a: boolean, b: boolean) => a === b },
} as const;

export type Form = keyof typeof FORMS;

export const FORM_NAMES = Object.keys(FORMS) as Form[];

/** Parts that a claim of a form has. */
export function partsOf(form: Form): 1 | 2 {
  return FORMS[form].parts;
}

/** What a person says. */
export type Statement = { speaker: number; form: Form; parts: readonly Is[] };

/** Everyone makes one statement; a person's index is its place among the statements. */
export type Puzzle = { names: readonly string[]; statements: readonly Statement[] };

/** @example isText("Dalan", true) // "Dalan is a knight" */
export function isText(name: string, knight: boolean): string {
  return `${name} is a ${knight ? "knight" : "knave"}`;
}

/** @example "Dalan says that Brik is a knave or Dalan is a knight." */
export function statementText({ names }: Puzzle, { speaker, form, parts }: Statement): string {
  const claim = FORMS[form].text.replace(/\{(\d)\}/g, (_, part: string) => {
    const { person = 0, knight = true } = parts[Number(part)] ?? {};
    return isText(names[person] ?? "", knight);
  });
  return `${names[speaker] ?? ""} says that ${claim}.`;
}

const ASK = "Who is a knight and who is a knave?";

export function puzzleText(puzzle: Puzzle): string {
  return [...puzzle.statements.map((each) => statementText(puzzle, each)), ASK].join(" ");
}

/** The answer to a puzzle: everyone, in the order of the statements. */
export function answerText({ names }: Puzzle, knights: readonly boolean[]): string {
  return names.map((name, person) => isText(name, knights[person] ?? false)).join(", ");
}

const PART = "(\\w+) is a (knight|knave)";
/** Of two parts before one: the first part of "a and b" alone is a claim as well. */
const READERS = FORM_NAMES.toSorted((a, b) => partsOf(b) - partsOf(a)).map((form) => ({
  form,
  claim: new RegExp(`^${FORMS[form].text.replace(/\{\d\}/g, PART)}$`),
}));

/** The puzzle that a text tells, in the words of `puzzleText`; null where it is no such text. */
export function readPuzzle(text: string): Puzzle | null {
  const said = [...text.matchAll(/(\w+) says that ([^.]*)\./g)];
  const names = said.map(([, speaker = ""]) => speaker);
  const statements = said.flatMap(([, , claim = ""], speaker): Statement[] => {
    const reader = READERS.find((each) => each.claim.test(claim));
    const words = (reader?.claim.exec(claim) ?? []).slice(1);
    const parts = Array.from({ length: words.length / 2 }, (_, i): Is => {
      return { person: names.indexOf(words[2 * i] ?? ""), knight: words[2 * i + 1] === "knight" };
    });
    const isKnown = parts.length > 0 && parts.every(({ person }) => person >= 0);
    return reader !== undefined && isKnown ? [{ speaker, form: reader.form, parts }] : [];
  });
  return said.length > 0 && statements.length === said.length ? { names, statements } : null;
}

type Known = readonly (boolean | undefined)[];

/** Whether a statement is true if and only if its speaker is a knight. */
export function fits({ speaker, form, parts: [a, b] }: Statement, knights: Known): boolean {
  const isTrue = (part: Is | undefined): boolean => knights[part?.person ?? -1] === part?.knight;
  return knights[speaker] === FORMS[form].holds(isTrue(a), isTrue(b));
}

/** All assignments under which every statement fits: of the 2ⁿ of n people, tried one by one. */
export function solutionsOf({ names, statements }: Puzzle): boolean[][] {
  const all = assignments(names.map(() => undefined));
  return all.filter((knights) => statements.every((each) => fits(each, knights)));
}

function assignments(known: Known): boolean[][] {
  return known.reduce<boolean[][]>(
    (made, value) =>
      (value === undefined ? [true, false] : [value]).flatMap((each) =>
        made.map((before) => [...before, each]),
      ),
    [[]],
  );
}

interface Deduced extends Is {
  statement: Statement;
  /** People of the statement who came before. */
  from: readonly number[];
}

/** What a statement says about its speaker, given who is known; null where it leaves both open. */
export function forced(statement: Statement, known: Known): boolean | null {
  const people = peopleOf(statement);
  const some = known.map((value, i) => (people.includes(i) ? value : true));
  const values = new Set(
    assignments(some)
      .filter((knights) => fits(statement, knights))
      .map((knights) => knights[statement.speaker]),
  );
  const [only] = values;
  return values.size === 1 && only !== undefined ? only : null;
}

/** A way to solve it person by person in the order in which they speak; null where a person follows from others as well. */
export function deduction({ names, statements }: Puzzle): Deduced[] | null {
  const known: (boolean | undefined)[] = names.map(() => undefined);
  const steps: Deduced[] = [];
  for (const statement of statements) {
    const { speaker: person } = statement;
    const from = peopleOf(statement).filter((each) => known[each] !== undefined);
    const knight = forced(statement, known);
    if (knight === null) return null;
    known[person] = knight;
    steps.push({ person, knight, statement, from });
  }
  return steps;
}

function peopleOf({ speaker, parts }: Statement): number[] {
  return [...new Set([speaker, ...parts.map(({ person }) => person)])];
}
