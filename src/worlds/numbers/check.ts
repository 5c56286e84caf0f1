import type { SolutionStep, Task } from "../../trajectory/task.ts";
import { splitOfProblem } from "./problems.ts";
import { readExpression } from "./read-expression.ts";
import { type ProblemReading, readProblem } from "./reading.ts";

interface NumberWorldProblem {
  where: string;
  code:
    | "id-twice"
    | "question-unreadable"
    | "split-wrong"
    | "answer-differs"
    | "steps-wrong"
    | "route-twice"
    | "concepts-differ"
    | "duplicate-wrong";
  message: string;
}

/** Counts and problems. */
export interface NumberWorldReport {
  questions: number;
  strata: Record<string, number>;
  problems: NumberWorldProblem[];
}

/**
 * Verifies problems from their text: parses each sentence, computes the answer with arithmetic of its own, and compares.
 * Every sentence has exactly one meaning; all accepted spellings have the text's value (none in a mislabelled problem; an impossible one
 * lacks a number); solutions take their numbers from the text, are computed rightly, end in the answer and differ; the concepts are the kind
 * and the first solution's operations; the id names the problem's split; a duplicate equals its original.
 */
export function checkNumberWorld(tasks: Iterable<Task>): NumberWorldReport {
  const all = [...tasks];
  const byId = new Map(all.map((task) => [task.id, task]));
  const report: NumberWorldReport = { questions: all.length, strata: {}, problems: [] };
  const seen = new Set<string>();
  for (const task of all) {
    const stratum = task.annotations.stratum ?? "unknown";
    report.strata[stratum] = (report.strata[stratum] ?? 0) + 1;
    const found = checkTask(task, byId);
    if (seen.has(task.id)) found.push(["id-twice", "another question has this id"]);
    seen.add(task.id);
    for (const [code, message] of found) report.problems.push({ where: task.id, code, message });
  }
  return report;
}

type Found = [code: NumberWorldProblem["code"], message: string];

function checkTask(task: Task, byId: ReadonlyMap<string, Task>): Found[] {
  const reading = readProblem(task.question);
  if (typeof reading === "string") return [["question-unreadable", reading]];
  return [
    ...checkSplit(task, reading),
    ...checkReferences(task, reading),
    ...checkSolutions(task, reading),
    ...checkConcepts(task, reading),
    ...checkDuplicate(task, byId),
  ];
}

function checkSplit({ id, question }: Task, { kind }: ProblemReading): Found[] {
  const [, named] = /^numberworld-(\w+)-/.exec(id) ?? [];
  const split = splitOfProblem(kind, question);
  if (named === undefined || named === split) return [];
  return [["split-wrong", `the id names split ${named}; kind and numbers belong to ${split}`]];
}

function checkReferences({ references, annotations }: Task, { answer }: ProblemReading): Found[] {
  const { stratum } = annotations;
  const found = JSON.stringify(references);
  if (stratum === "impossible") {
    if (Number.isNaN(answer)) return [];
    return [["answer-differs", `the problem is said to be impossible; the text says ${answer}`]];
  }
  if (Number.isNaN(answer)) return [["answer-differs", "the text does not tell every number"]];
  const values = references.map(valueOfSpelling);
  const isRight =
    stratum === "mislabelled" ? !values.includes(answer) : values.every((each) => each === answer);
  if (isRight && references.length > 0) return [];
  return [
    [
      "answer-differs",
      `references are ${found} (${stratum ?? "no stratum"}); the text says ${answer}`,
    ],
  ];
}

/** The value of "1200", "1,200", "1 200", "7.5", "15/2", "7 1/2"; NaN for another text. */
function valueOfSpelling(text: string): number {
  const [, whole = "0", above, below] = /^(?:(\d+) )?(\d+)\/(\d+)$/.exec(text) ?? [];
  if (above !== undefined) return Number(whole) + Number(above) / Number(below);
  const isGrouped = /^\d{1,3}([ ,]\d{3})+$/.test(text);
  return Number(isGrouped ? text.replaceAll(/[ ,]/g, "") : text);
}

function checkSolutions({ question, annotations }: Task, reading: ProblemReading): Found[] {
  const { decomposition, routes = [], stratum } = annotations;
  if (decomposition === undefined || stratum === "impossible") return [];
  const known = new Set(question.match(/\d+/g));
  // Equal shares are divided by the number of people, whom the text names.
  if (reading.owners > 1) known.add(String(reading.owners));
  const solutions = [decomposition, ...routes];
  const wrong = solutions.flatMap((steps): Found[] => {
    const message = wrongStep(steps, known, reading.answer);
    return message === null ? [] : [["steps-wrong", message]];
  });
  const distinct = new Set(solutions.map((steps) => steps.map((step) => step.expression).join()));
  const twice: Found[] =
    distinct.size === solutions.length ? [] : [["route-twice", "two solutions are equal"]];
  return [...wrong, ...twice];
}

function wrongStep(
  steps: readonly SolutionStep[],
  known: ReadonlySet<string>,
  answer: number,
): string | null {
  const values: string[] = [];
  for (const { expression = "", answer: result } of steps) {
    const strange = expression
      .match(/#?\d+/g)
      ?.find((each) =>
        each.startsWith("#") ? values[Number(each.slice(1)) - 1] === undefined : !known.has(each),
      );
    if (strange !== undefined) return `"${expression}" uses ${strange}, which is not known there`;
    const filled = expression.replaceAll(/#(\d+)/g, (_, n: string) => values[Number(n) - 1] ?? "");
    const value = readExpression(filled);
    if (value === null || value !== Number(result))
      return `"${expression}" is said to be ${result}; it is ${value ?? "unreadable"}`;
    values.push(result);
  }
  const last = Number(values.at(-1));
  return last === answer ? null : `the last step gives ${last}; the text says ${answer}`;
}

const OPERATION_CONCEPTS: readonly (readonly [sign: RegExp, concept: string])[] = [
  [/ \+ /, "addition"],
  [/ - /, "subtraction"],
  [/ \* /, "multiplication"],
  [/ \/ /, "division"],
  [/ % /, "remainder"],
  [/max/, "maximum"],
  [/min/, "minimum"],
];

function checkConcepts({ annotations }: Task, { kind, answer }: ProblemReading): Found[] {
  const { concepts, decomposition, type } = annotations;
  if (concepts === undefined || decomposition === undefined) return [];
  const expressions = decomposition.map(({ expression = "" }) => expression);
  const used = OPERATION_CONCEPTS.filter(([sign]) => expressions.some((each) => sign.test(each)));
  const read = [
    kind,
    ...used.map(([, concept]) => concept),
    ...(Number.isInteger(answer) ? [] : ["fraction"]),
  ];
  const isEqual = JSON.stringify([...concepts].sort()) === JSON.stringify([...read].sort());
  if (isEqual && type === kind) return [];
  return [
    [
      "concepts-differ",
      `concepts are ${concepts.join(", ")}; the text and the steps say ${read.join(", ")}`,
    ],
  ];
}

function checkDuplicate(
  { question, references, annotations }: Task,
  byId: ReadonlyMap<string, Task>,
): Found[] {
  const { duplicateOf } = annotations;
  const original = duplicateOf === undefined ? undefined : byId.get(duplicateOf);
  if (original === undefined) return [];
  if (original.question === question && original.references.join() === references.join()) return [];
  return [["duplicate-wrong", `differs from ${original.id}, which it is said to repeat`]];
}
