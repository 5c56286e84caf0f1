import { describe, expect, it } from "vitest";
import { evaluated } from "../../src/env/tools/calculator.ts";
import { openDataset } from "../../src/worlds/open-dataset.ts";

const questions = async (options: Record<string, unknown>) =>
  (await openDataset({ name: "arithmetic", questions: 200, ...options }, "test")).tasks();

describe("arithmetic", () => {
  it("gives expressions with their values: whole numbers up to the largest", async () => {
    for (const { question, references } of await questions({})) {
      const value = Number(evaluated(question));
      expect(references).toEqual([String(value)]);
      expect(value).toBeGreaterThanOrEqual(0);
      expect(value).toBeLessThanOrEqual(99);
      expect(Number.isInteger(value)).toBe(true);
      const signs = question.split(" ").filter((each) => /^[-+*/]$/.test(each)).length;
      expect(signs).toBeGreaterThanOrEqual(2);
      expect(signs).toBeLessThanOrEqual(4);
    }
  });

  it("gives the same ones for the same seed, and none twice across splits", async () => {
    const [train, test, again] = await Promise.all([
      questions({}),
      questions({ split: "test" }),
      questions({}),
    ]);
    expect(again).toEqual(train);
    const seen = new Set(train.map(({ question }) => question));
    expect(test.some(({ question }) => seen.has(question))).toBe(false);
  });
});
