import { describe, expect, it } from "vitest";
import type { EvaluationRow } from "../../src/evaluate/evaluation-row.ts";
import { metricNames, openSummary, summarizeRows } from "../../src/evaluate/evaluation-summary.ts";
import { madeRow as row } from "../helpers/evaluation-rows.ts";

describe("summarizeRows", () => {
  it("gives Wilson intervals to shares and a bootstrap interval to f1", () => {
    const rows = Array.from({ length: 10 }, (_, i) => row(`${i}`, i < 5 ? 1 : 0));
    const { intervals, intervalMethods } = summarizeRows(rows, { seed: 1 });
    expect(intervalMethods).toEqual({
      em: "wilson",
      cover_em: "wilson",
      token_cover: "wilson",
      drop_em: "wilson",
      f1: "bootstrap",
      precision: "bootstrap",
      recall: "bootstrap",
      drop_f1: "bootstrap",
    });
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

  it("sorts hops as numbers, however the rows come", () => {
    const rows = [row("a", 1, { hops: 10 }), row("b", 0, { hops: 2 }), row("c", 1)];
    const { groups, ends } = summarizeRows(rows, { seed: 1 });
    expect(Object.keys(groups.hops)).toEqual(["2-hop", "10-hop"]);
    expect(groups.hops["10-hop"]).toMatchObject({ n: 1, metrics: { em: 1 } });
    expect(ends).toEqual({ answered: 3 });
  });

  it("has beside the means those with failures counted as wrong, each failed draw for its share", () => {
    const error = { boundary: "model" as const, code: "HTTP_CUT", message: "" };
    const rows = [row("a", 1), row("a", 0, { sample: 1, error }), row("b", 0), row("b", 1)];
    expect(summarizeRows(rows, { seed: 1 })).toMatchObject({
      n: 2,
      metrics: { em: 0.75 },
      errors: { n: 1, asWrong: { n: 2, em: 0.5, f1: 0.5 } },
    });
    expect(summarizeRows([row("a", 1)], { seed: 1 }).errors).toEqual({ n: 0, byCode: {} });
  });

  it("leaves rows that ended in an error out of every number, and counts them by code", () => {
    const failed = (code: string): Partial<EvaluationRow> => ({
      error: { boundary: "tool", code, message: "down" },
      end: "tool-error",
    });
    const rows = [
      row("a", 1, { searches: 2 }),
      row("b", 0, { ...failed("TOOL_FAILED"), hops: 2, searches: 9 }),
      row("c", 0, failed("HTTP_TIMEOUT")),
      row("d", 0, failed("TOOL_FAILED")),
    ];
    const summary = summarizeRows(rows, { seed: 1 });
    expect(summary).toMatchObject({ n: 1, metrics: { em: 1, searches: 2 }, samplesPerTask: 1 });
    expect(summary.errors).toEqual({
      n: 3,
      byCode: { HTTP_TIMEOUT: 1, TOOL_FAILED: 2 },
      asWrong: { n: 4, em: 0.25, f1: 0.25 },
    });
    expect(summary.groups.hops).toEqual({});
    expect(summary.intervals.em[1]).toBe(1);
    expect(summary.ends).toEqual({ answered: 1, "tool-error": 3 });
  });

  it("has no number where nothing was measured", () => {
    const error = { boundary: "model", code: "HTTP_TIMEOUT", message: "late" };
    const { n, metrics } = summarizeRows([row("a", 0, { error, end: "model-error" })], { seed: 1 });
    expect(n).toBe(0);
    expect(metrics.em).toBeNaN();
    expect(JSON.parse(JSON.stringify(metrics))).toMatchObject({ em: null });
    expect(Object.keys(metrics)).not.toContain("evidence_recall");
  });

  it("counts each question alike when some of its draws failed", () => {
    const error = { boundary: "model", code: "HTTP_TIMEOUT", message: "late" };
    const rows = [
      row("a", 1, { sample: 0 }),
      row("a", 0, { sample: 1, error, end: "model-error" }),
      row("b", 0, { sample: 0 }),
      row("b", 1, { sample: 1 }),
    ];
    const { n, samplesPerTask, metrics } = summarizeRows(rows, { seed: 1 });
    expect({ n, samplesPerTask }).toEqual({ n: 2, samplesPerTask: 2 });
    // a: 1 of 1 draw, b: 1 of 2.
    expect(metrics).toMatchObject({ em: 0.75, "avg@2": 0.75, "pass@1": 0.75 });
    // Only b has two measured draws.
    expect(metrics["pass@2"]).toBe(1);
    expect(metrics["potential@2"]).toBe(1);
  });

  it("reports avg, pass, majority and potential of several draws", () => {
    const rows = [
      ...["x", "x", "y", null].map((answer, sample) =>
        row("a", Number(answer === "x"), { sample, answer }),
      ),
      ...["y", "z", "Y!", "x"].map((answer, sample) =>
        row("b", Number(answer === "x"), { sample, answer }),
      ),
    ];
    const { metrics } = summarizeRows(rows, { seed: 1 });
    expect(metrics["avg@4"]).toBe(3 / 8);
    expect(metrics["pass@1"]).toBeCloseTo(3 / 8, 12);
    // a: 1 − C(2, 2)/C(4, 2) = 5/6; b: 1 − C(3, 2)/C(4, 2) = 1/2
    expect(metrics["pass@2"]).toBeCloseTo((5 / 6 + 1 / 2) / 2, 12);
    expect(metrics["pass@4"]).toBe(1);
    // a: x has two votes of three; b: y has two of four.
    expect(metrics["majority@4"]).toBe(0.5);
    // (1 · 1/2 + 1 · 3/4) / (1/2 + 3/4)
    expect(metrics["potential@4"]).toBe(1);
    expect(metricNames(4)).toEqual(expect.arrayContaining(Object.keys(metrics)));
  });

  it("averages a metric over the questions that have it, and says over how many", () => {
    const evidence = (gold: number, given: number, seen: number[]): Partial<EvaluationRow> => ({
      evidence: { gold, given, seen },
    });
    const rows = [
      row("a", 1, evidence(2, 0, [1, 2])),
      row("b", 0, evidence(4, 0, [1])),
      row("c", 1),
    ];
    const { metrics, metricCounts, intervals } = summarizeRows(rows, { seed: 1 });
    expect(metrics["evidence_recall"]).toBe((1 + 1 / 4) / 2);
    expect(metrics["evidence_recall_2"]).toBe(1);
    expect(metricCounts).toMatchObject({ evidence_recall: 2, evidence_recall_2: 1 });
    expect(metrics).not.toHaveProperty("evidence_recall_3");
    expect(metricCounts).not.toHaveProperty("em");
    expect(intervals).toHaveProperty("evidence_recall");
  });

  it("reports calibration of the answers that came with a confidence", () => {
    const rows = [row("a", 1, { confidence: 0.9 }), row("b", 0, { confidence: 0.6 }), row("c", 1)];
    const { calibration } = summarizeRows(rows, { seed: 1 });
    expect(calibration).toMatchObject({ n: 2, auroc: 1 });
    expect(calibration?.ece).toBeCloseTo(0.35, 12);
    expect(summarizeRows([row("a", 1)], { seed: 1 }).calibration).toBeUndefined();
  });
});

describe("openSummary", () => {
  it("keeps numbers only: its rows may be changed or dropped once they were added", () => {
    const rows = Array.from({ length: 50 }, (_, i) => row(`q${i}`, i % 3 === 0 ? 1 : 0));
    const summary = openSummary({ seed: 3 });
    for (const each of rows) {
      const copy = structuredClone(each);
      summary.add(copy);
    }
    expect(summary.summary()).toEqual(summarizeRows(rows, { seed: 3 }));
  });
});
