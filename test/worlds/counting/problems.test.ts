import { describe, expect, it } from "vitest";
import { checkCounting } from "../../../src/worlds/counting/index.ts";
import { openDataset } from "../../../src/worlds/open-dataset.ts";
import {
  byHand,
  programOf,
  readCounting,
  valuesOf,
} from "../../../src/worlds/counting/problems.ts";
import { random } from "../../../src/base/random.ts";
import { drawnCounting } from "../../../src/worlds/counting/problems.ts";
import "../../helpers/all-parts.ts";

const tasks = async (options: object) =>
  (await openDataset({ name: "counting", questions: 200, ...options }, "test")).tasks();

const solved = (question: string) => {
  const problem = readCounting(question);
  if (problem === null) throw new Error("no problem");
  return { ...byHand(problem, valuesOf(problem)), program: programOf(problem) };
};

describe("problems of the counting world, computed by hand", () => {
  it.each([
    [
      "How many numbers from 10 to 30 does 6 divide?",
      "1: 12, 2: 18, 3: 24, 4: 30.",
      4,
      "print(sum(n % 6 == 0 for n in range(10, 30 + 1)))",
    ],
    [
      "What is the sum of the numbers from 10 to 30 with remainder 3 by 8?",
      "11, 19, 27. 11 + 19 = 30. 30 + 27 = 57.",
      57,
      "print(sum(n for n in range(10, 30 + 1) if n % 8 == 3))",
    ],
    [
      "What is the smallest number above 10 with remainder 3 by 7 and 1 by 5?",
      "17: 2, 24: 4, 31: 1.",
      31,
      "print(min(n for n in range(10 + 1, 10 + 100) if n % 7 == 3 and n % 5 == 1))",
    ],
    [
      "How many factors has 12?",
      "1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 12.",
      6,
      "print(sum(12 % n == 0 for n in range(1, 12 + 1)))",
    ],
    [
      "How many numbers from 5 to 45 have digits with sum 7?",
      "1: 7, 2: 16, 3: 25, 4: 34, 5: 43.",
      5,
      "print(sum(n // 10 + n % 10 == 7 for n in range(5, 45 + 1)))",
    ],
    [
      "A number is 14. In each step half of an even number is left, and an odd number has 3 more. What is the number after 4 steps?",
      "14, 7, 10, 5, 8.",
      8,
      "n = 14\nfor i in range(4):\n  n = n // 2 if n % 2 == 0 else n + 3\nprint(n)",
    ],
  ])("%s", (question, lines, answer, program) => {
    const found = solved(question);
    expect(found).toEqual({ lines: expect.anything() as unknown, answer, program });
    expect(found.lines.join(" ")).toBe(lines);
  });

  it("reads nothing else", () => {
    for (const text of ["How many factors has x?", "How many factors has 12", ""])
      expect(readCounting(text)).toBeNull();
  });

  it("tries 100 numbers for the smallest, which are always enough", () => {
    const draw = random(3);
    for (let i = 0; i < 500; i++) {
      const { slots } = drawnCounting(draw, "smallest", 99);
      expect(slots["k"]! * slots["m"]!).toBeLessThan(100);
    }
  });
});

describe("the dataset counting", () => {
  it("has as many values as asked for, and answers that the check finds by another way", async () => {
    const all = await tasks({ values: [4, 6], largest: 60 });
    for (const { question } of all) {
      const count = valuesOf(readCounting(question)!).length;
      expect(count).toBeGreaterThanOrEqual(4);
      expect(count).toBeLessThanOrEqual(6);
      expect(Math.max(...question.match(/\d+/g)!.map(Number))).toBeLessThanOrEqual(60);
    }
    expect(checkCounting(all).problems).toEqual([]);
    const wrong = { ...all[0]!, references: ["-1"] };
    const other = { ...all[1]!, question: "Why?" };
    expect(checkCounting([wrong, other]).problems.map(({ code }) => code)).toEqual([
      "answer-differs",
      "question-unreadable",
    ]);
  });

  it("shares no problem between splits", async () => {
    const [train, test] = await Promise.all([tasks({ split: "train" }), tasks({ split: "test" })]);
    const seen = new Set(train.map(({ question }) => question));
    expect(test.filter(({ question }) => seen.has(question))).toEqual([]);
  });

  it("says which settings leave no problem", async () => {
    await expect(tasks({ kinds: ["factors"], values: [40, 40] })).rejects.toMatchObject({
      code: "RECIPE_BAD_VALUE",
      message: expect.stringContaining("kind factors") as string,
    });
  });
});

describe("questions for a function", () => {
  it("have a right function and hidden tests, which the check computes again", async () => {
    const all = await tasks({ asks: "function", largest: 50 });
    const [first] = all;
    expect(all.find(({ annotations }) => annotations.type === "multiples")).toMatchObject({
      question: expect.stringMatching(
        /^Write a Python function f\(a, b\)\. How many numbers from a to b does \d divide\?$/,
      ) as string,
      references: [
        expect.stringMatching(
          /^def f\(a, b\):\n {2}return sum\(n % \d == 0 for n in range\(a, b \+ 1\)\)$/,
        ),
      ],
    });
    expect(checkCounting(all).problems).toEqual([]);
    const tests = [{ call: "f(3, 4)", value: "99" }];
    const wrong = { ...first!, annotations: { ...first!.annotations, tests } };
    expect(checkCounting([wrong]).problems).toMatchObject([{ code: "answer-differs" }]);
  });
});
