import { describe, expect, it } from "vitest";
import { checkNumberWorld } from "../../../src/worlds/numbers/check.ts";
import { splitOfProblem } from "../../../src/worlds/numbers/problems.ts";
import type { SolutionStep, Task, TaskAnnotations } from "../../../src/trajectory/task.ts";

const QUESTION = "What is ( 12 + 5 ) * 3?";
const SPLIT = splitOfProblem("expression", QUESTION);

function step(expression: string, answer: string): SolutionStep {
  return { question: "value of this part", expression, answer, passage: null };
}

const STEPS = [step("12 + 5", "17"), step("#1 * 3", "51")];
const OTHER = [step("12 * 3", "36"), step("5 * 3", "15"), step("#1 + #2", "51")];

function task({ annotations, ...given }: Partial<Task> = {}): Task {
  const right: TaskAnnotations = {
    type: "expression",
    concepts: ["expression", "addition", "multiplication"],
    stratum: "easy",
    decomposition: STEPS,
    routes: [OTHER],
  };
  return {
    id: `numberworld-${SPLIT}-7-0`,
    question: QUESTION,
    references: ["51"],
    source: "numberworld",
    ...given,
    annotations: { ...right, ...annotations },
  };
}

const codes = (...tasks: Task[]): string[] =>
  checkNumberWorld(tasks).problems.map(({ code }) => code);

describe("checkNumberWorld", () => {
  it("accepts a right problem, and counts strata", () => {
    expect(checkNumberWorld([task()])).toEqual({ questions: 1, strata: { easy: 1 }, problems: [] });
  });

  it("accepts every spelling of the answer", () => {
    const question = "Compute 1000 + 200.";
    const id = `numberworld-${splitOfProblem("expression", question)}-7-0`;
    const annotations = {
      concepts: ["expression", "addition"],
      decomposition: [step("1000 + 200", "1200")],
      routes: [],
    };
    const references = ["1200", "1,200", "1 200"];
    expect(codes(task({ id, question, references, annotations }))).toEqual([]);
    expect(codes(task({ id, question, references: ["1.200"], annotations }))).toEqual([
      "answer-differs",
    ]);
  });

  it.each<[string, Partial<Task>]>([
    ["question-unreadable", { question: "What is twelve?" }],
    ["split-wrong", { id: `numberworld-${SPLIT === "train" ? "test" : "train"}-7-0` }],
    ["answer-differs", { references: ["51", "52"] }],
    ["answer-differs", { references: [] }],
    ["answer-differs", { annotations: { stratum: "mislabelled" } }],
    ["answer-differs", { annotations: { stratum: "impossible" } }],
    [
      "steps-wrong",
      { annotations: { decomposition: [...STEPS.slice(0, 1), step("#1 * 3", "52")] } },
    ],
    ["steps-wrong", { annotations: { routes: [[step("12 + 5", "17"), step("17 + 34", "51")]] } }],
    ["steps-wrong", { annotations: { routes: [[step("#1 + 5", "17"), ...STEPS]] } }],
    ["steps-wrong", { annotations: { routes: [[step("12 + 5", "17")]] } }],
    ["route-twice", { annotations: { routes: [STEPS] } }],
    ["concepts-differ", { annotations: { concepts: ["expression", "addition"] } }],
    ["concepts-differ", { annotations: { type: "shop" } }],
  ])("reports %s", (code, given) => {
    expect(codes(task(given))).toContain(code);
  });

  it("accepts a mislabelled problem whose references are wrong, and its right steps", () => {
    expect(codes(task({ references: ["52"], annotations: { stratum: "mislabelled" } }))).toEqual(
      [],
    );
  });

  it("reports an id twice, and a duplicate that differs", () => {
    expect(codes(task(), task())).toEqual(["id-twice"]);
    const copy = task({ id: `numberworld-${SPLIT}-7-1`, annotations: { duplicateOf: task().id } });
    expect(codes(task(), copy)).toEqual([]);
    const others = { ...copy, references: ["51", "51.0"] };
    expect(codes(task(), others)).toEqual(["duplicate-wrong"]);
  });
});
