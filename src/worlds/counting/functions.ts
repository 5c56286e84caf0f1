import type { Random } from "../../base/random.ts";
import type { FunctionTest } from "../../rewards/passes-tests.ts";
import { byHand, type Counting, countingText, programOf, valuesOf } from "./problems.ts";

/** Numbers of a problem that its function takes, by kind; the others stand in the text. */
const PARAMETERS: Readonly<Record<Counting["kind"], readonly string[]>> = {
  multiples: ["a", "b"],
  total: ["a", "b"],
  smallest: ["a"],
  factors: ["a"],
  digits: ["a", "b"],
  steps: ["a"],
};

/** Tests of a function: enough that one which is right by chance is rare. */
const TESTS = 6;

/** A problem as the question for a function, with a right one and tests of its values. @param draw of the tests' arguments. */
export function asFunction(problem: Counting, draw: Random, largest: number) {
  const { kind, slots } = problem;
  const names = PARAMETERS[kind];
  const letters = Object.fromEntries(names.map((name) => [name, name]));
  const open = { kind, slots: { ...slots, ...letters } };
  const call = `f(${names.join(", ")})`;
  const tests = Array.from({ length: TESTS }, (): FunctionTest => {
    const given = names.map(() => 1 + draw.int(largest)).toSorted((a, b) => a - b);
    const told = Object.fromEntries(names.map((name, i) => [name, given[i] ?? 1]));
    const asked = { kind, slots: { ...slots, ...told } };
    const { answer } = byHand(asked, valuesOf(asked));
    return { call: `f(${given.join(", ")})`, value: String(answer) };
  });
  return {
    question: `Write a Python function ${call}. ${countingText(open)}`,
    reference: functionOf(programOf(open), call),
    tests,
  };
}

/** @example "print(sum(1 for n in range(a, b + 1)))", "f(a, b)" → "def f(a, b):\n  return sum(1 for n in range(a, b + 1))" */
function functionOf(program: string, call: string): string {
  const lines = program.replace(/print\((.*)\)$/, "return $1").split("\n");
  return [`def ${call}:`, ...lines.map((line) => `  ${line}`)].join("\n");
}

/** The questions that a function's tests ask, with the value that each is said to have; null where a question asks for no function. */
export function testedQuestions(
  question: string,
  tests: readonly FunctionTest[],
): { question: string; value: string }[] | null {
  const [, parameters, text = ""] =
    /^Write a Python function f\((.*?)\)\. (.*)$/.exec(question) ?? [];
  if (parameters === undefined) return null;
  const names = parameters.split(", ");
  return tests.map(({ call, value }) => {
    const given = call.match(/\d+/g) ?? [];
    const asked = names.reduce(
      (each, name, i) => each.replace(new RegExp(`\\b${name}\\b`), given[i] ?? ""),
      text,
    );
    return { question: asked, value };
  });
}
