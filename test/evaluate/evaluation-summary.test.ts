import { describe, expect, it } from "vitest";
import type { EvaluationRow } from "../../src/evaluate/evaluation-row.ts";
import { passAtK, summarizeRows } from "../../src/evaluate/evaluation-summary.ts";

const row = (id: string, em: number, more: Partial<EvaluationRow> = {}): EvaluationRow => ({
  ...{ id, sample: 0, question: "?", references: ["x"], answer: "x", em, f1: em, cover_em: em },
  ...{ searches: 0, turns: 1, end: "answered", formatOk: true, tokens: 1 },
  ...more,
});

describe("summarizeRows", () => {
  it("gives Wilson intervals to shares and a bootstrap interval to f1", () => {
    const rows = Array.from({ length: 10 }, (_, i) => row(`${i}`, i < 5 ? 1 : 0));
    const { intervals, intervalMethods } = summarizeRows(rows, { seed: 1 });
    expect(intervalMethods).toEqual({ em: "wilson", f1: "bootstrap", cover_em: "wilson" });
    expect(intervals.em[0]).toBeCloseTo(0.2366, 4);
    expect(intervals.em[1]).toBeCloseTo(0.7634, 4);
    expect(intervals.f1[0]).toBeGreaterThanOrEqual(0.1);
    expect(intervals.f1[1]).toBeLessThanOrEqual(0.9);
  });

  it("counts draws of one question together: they are not independent", () => {
    const draws = (of: number): EvaluationRow[] =>
      [0, 1].flatMap((q) => Array.from({ length: of }, (_, sample) => row(`${q}`, q, { sample })));
    const two = summarizeRows(draws(2), { seed: 1 });
    const many = summarizeRows(draws(50), { seed: 1 });
    expect(many.n).toBe(2);
    expect(many.intervals.em).toEqual(two.intervals.em);
  });

  it("sorts hops as numbers, and counts rows that ended in errors", () => {
    const error = { boundary: "tool", code: "TOOL_FAILED", message: "down" };
    const rows = [
      row("a", 1, { hops: 10 }),
      row("b", 0, { hops: 2, error, end: "tool-error" }),
      row("c", 1),
    ];
    const { groups, errors, ends } = summarizeRows(rows, { seed: 1 });
    expect(Object.keys(groups.hops)).toEqual(["2-hop", "10-hop"]);
    expect(errors).toBe(1);
    expect(ends).toEqual({ answered: 2, "tool-error": 1 });
  });
});

describe("passAtK", () => {
  it("is the chance that a random choice of k draws holds a right one", () => {
    expect(passAtK(4, 1, 2)).toBeCloseTo(1 - 3 / 6, 12);
    expect(passAtK(5, 2, 3)).toBeCloseTo(1 - 1 / 10, 12);
    expect(passAtK(16, 0, 8)).toBe(0);
    expect(passAtK(16, 9, 8)).toBe(1);
    expect(passAtK(4, 1, 1)).toBeCloseTo(0.25, 12);
    expect(passAtK(2000, 1, 1000)).toBeCloseTo(0.5, 9);
  });
});
