import { describe, expect, it } from "vitest";
import type { Task } from "../../../src/trajectory/task.ts";
import { checkNumberWorld } from "../../../src/worlds/numbers/check.ts";
import { numberWorldVocabulary } from "../../../src/worlds/numbers/index.ts";
import { type NumberWorld, numberWorld } from "../../../src/worlds/numbers/number-world.ts";
import { CONCEPTS, KIND_NAMES, splitOfProblem } from "../../../src/worlds/numbers/problems.ts";
import { readProblem } from "../../../src/worlds/numbers/reading.ts";
import { TINY_WORLD_SPLITS } from "../../../src/worlds/tiny/permutation.ts";
import { errorWith } from "../../helpers/error-with.ts";

const MIXED = { impossible: 0.1, mislabelled: 0.1, duplicates: 0.1 };

function first(world: NumberWorld, count: number): Task[] {
  return Array.from({ length: count }, (_, number) => world.problem(number));
}

describe("numberWorld", () => {
  it("has no problem that its reader finds wrong, over many seeds and all splits", () => {
    for (let seed = 0; seed < 8; seed++) {
      for (const split of TINY_WORLD_SPLITS) {
        const tasks = first(numberWorld({ seed, split, pool: MIXED }), 30);
        expect(checkNumberWorld(tasks).problems).toEqual([]);
      }
    }
  });

  it("depends on seed, split and number alone", () => {
    const world = numberWorld({ seed: 3, split: "dev", pool: MIXED });
    const again = numberWorld({ seed: 3, split: "dev", pool: MIXED });
    expect(again.problem(41)).toEqual(first(world, 42)[41]);
    expect(numberWorld({ seed: 4, split: "dev", pool: MIXED }).problem(41)).not.toEqual(
      world.problem(41),
    );
  });

  it("gives splits no kind with the same numbers, whatever the seeds", () => {
    const keyOf = ({ question, annotations: { type } }: Task): string =>
      [type, ...(question.match(/\d+/g) ?? []).map(Number).sort((a, b) => a - b)].join();
    const train = new Set([1, 2].flatMap((seed) => first(numberWorld({ seed }), 400).map(keyOf)));
    const test = first(numberWorld({ seed: 9, split: "test" }), 400).map(keyOf);
    expect(test.filter((key) => train.has(key))).toEqual([]);
    expect(splitOfProblem("stock", "5 cups and 12")).toBe(splitOfProblem("stock", "12 rings, 5"));
  });

  it("keeps each level's steps and largest number", () => {
    for (const [stratum, least, most, largest] of [
      ["easy", 2, 2, 50],
      ["medium", 3, 4, 200],
      ["hard", 5, 6, 2000],
    ] as const) {
      const pool = { easy: 0, medium: 0, hard: 0, [stratum]: 1 };
      for (const { annotations, question } of first(numberWorld({ pool }), 60)) {
        const steps = annotations.decomposition ?? [];
        expect(steps.length, question).toBeGreaterThanOrEqual(least);
        expect(steps.length, question).toBeLessThanOrEqual(most);
        if (annotations.type === "years") continue;
        for (const { answer } of steps)
          expect(Number(answer), question).toBeLessThanOrEqual(largest);
      }
    }
  });

  it("composes every beginning of a pool by the shares", () => {
    const strata = first(numberWorld({ pool: { easy: 0.5, medium: 0.25, hard: 0.25 } }), 100).map(
      ({ annotations }) => annotations.stratum,
    );
    const count = (stratum: string): number => strata.filter((each) => each === stratum).length;
    expect(Math.abs(count("easy") - 50)).toBeLessThanOrEqual(2);
    expect(Math.abs(count("hard") - 25)).toBeLessThanOrEqual(2);
  });

  it("mislabels, hides a number and repeats problems only in these strata", () => {
    const tasks = first(numberWorld({ pool: MIXED }), 200);
    const byId = new Map(tasks.map((task) => [task.id, task]));
    const of = (stratum: string) => tasks.filter((task) => task.annotations.stratum === stratum);
    for (const { references, annotations } of of("mislabelled")) {
      expect(references).not.toContain(annotations.decomposition?.at(-1)?.answer);
    }
    for (const { question, annotations } of of("impossible")) {
      expect(question).toMatch(/\bsome\b|\bx\b/);
      expect(annotations.decomposition).toBeUndefined();
      expect(readProblem(question)).toMatchObject({ answer: NaN });
    }
    const repeats = tasks.filter(({ annotations }) => annotations.duplicateOf !== undefined);
    expect(repeats.length).toBeGreaterThan(10);
    for (const { question, annotations } of repeats) {
      expect(byId.get(annotations.duplicateOf ?? "")?.question).toBe(question);
    }
  });

  it("draws only wanted concepts, and none that are excluded", () => {
    const remainders = numberWorld({ concepts: ["remainder"], exclude: ["expression"] });
    for (const { annotations } of first(remainders, 30)) {
      expect(annotations.concepts).toContain("remainder");
      expect(annotations.concepts).not.toContain("expression");
    }
    const trips = first(numberWorld({ concepts: ["travel", "years"] }), 40);
    expect(new Set(trips.map(({ annotations }) => annotations.type))).toEqual(
      new Set(["travel", "years"]),
    );
  });

  it("reaches every concept", () => {
    const found = new Set(
      first(numberWorld({}), 1000).flatMap(({ annotations }) => annotations.concepts ?? []),
    );
    expect([...found].sort()).toEqual([...CONCEPTS].sort());
    expect(KIND_NAMES.every((kind) => found.has(kind))).toBe(true);
  });

  it("refuses concepts that exclude each other, and numbers of no problem", () => {
    const none = numberWorld({ concepts: ["years"], exclude: ["addition", "subtraction"] });
    expect(() => none.problem(0)).toThrow(errorWith("RECIPE_BAD_VALUE", "numberworld"));
    expect(() => numberWorld({}).problem(-1)).toThrow(errorWith("RECIPE_BAD_VALUE", "-1"));
    const empty = { easy: 0, medium: 0, hard: 0, duplicates: 1 };
    expect(() => numberWorld({ pool: empty })).toThrow(errorWith("RECIPE_BAD_VALUE", "pool"));
    expect(() => numberWorld({ exclude: [...KIND_NAMES] })).toThrow(
      errorWith("RECIPE_BAD_VALUE", "exclude"),
    );
  });

  it("writes nothing that the vocabulary lacks", () => {
    const known = new Set(numberWorldVocabulary());
    const tasks = first(numberWorld({ pool: MIXED }), 300);
    const texts = tasks.flatMap(
      ({ question, annotations: { decomposition = [], routes = [] } }) => [
        ` ${question}`,
        ...[decomposition, ...routes]
          .flat()
          .flatMap(({ question: asked, expression = "", answer }) => [
            ` ${asked}`,
            ` ${expression}`,
            ` ${answer}`,
          ]),
      ],
    );
    const tokens = texts.flatMap(
      (text) => text.match(/ ?[A-Za-z]+| ?\d|\d| ?[^\sA-Za-z\d]/g) ?? [],
    );
    expect([...new Set(tokens)].filter((token) => !known.has(token))).toEqual([]);
  });
});
