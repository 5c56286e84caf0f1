import { describe, expect, it } from "vitest";
import { rowMetrics } from "../../../src/evaluate/metrics/index.ts";
import { madeRow } from "../../helpers/evaluation-rows.ts";

const value = (name: string, ...queries: string[]): number | null =>
  rowMetrics.get(name, "test").of(madeRow("q", 0, { queries, searches: queries.length }));

describe("duplicate_query_rate", () => {
  const rate = (...queries: string[]) => value("duplicate_query_rate", ...queries);

  it("is the share of searches that an earlier one equals after normalisation", () => {
    expect(rate("capital of Norway", "Capital of the Norway?", "Oslo")).toBe(1 / 3);
    expect(rate("x", "x", "x")).toBe(2 / 3);
    expect(rate("capital of Norway", "Norway capital of")).toBe(0);
  });

  it("is 0 for one search, and does not apply without any", () => {
    expect(rate("x")).toBe(0);
    expect(rate()).toBeNull();
  });
});

describe("near_duplicate_query_rate", () => {
  const rate = (...queries: string[]) => value("near_duplicate_query_rate", ...queries);

  it("counts queries with four fifths of all words in common with an earlier one", () => {
    // Four words of five.
    expect(rate("capital city of Norway", "old capital city of Norway")).toBe(1 / 2);
    expect(rate("Norway capital of", "capital of Norway")).toBe(1 / 2);
    // Three of four.
    expect(rate("capital of Norway", "capital city of Norway")).toBe(0);
  });

  it("compares with every earlier query", () => {
    expect(rate("a1 b1", "c1 d1", "b1 a1")).toBe(1 / 3);
  });

  it("finds two empty queries alike", () => {
    expect(rate("", "?")).toBe(1 / 2);
  });
});

describe("under_search_rate", () => {
  const metric = rowMetrics.get("under_search_rate", "test");

  it("is 1 for a wrong answer without a search, and does not apply where one was made", () => {
    expect(metric.of(madeRow("q", 0))).toBe(1);
    expect(metric.of(madeRow("q", 1))).toBe(0);
    expect(metric.of(madeRow("q", 0, { searches: 1, queries: ["x"] }))).toBeNull();
  });
});

describe("invalid_action_rate and turn_limit_rate", () => {
  it("are shares of messages with a problem, and of rows that ran out of turns", () => {
    const row = madeRow("q", 0, { turns: 4, invalidTurns: 1, end: "turn-limit" });
    expect(rowMetrics.get("invalid_action_rate", "test").of(row)).toBe(0.25);
    expect(rowMetrics.get("turn_limit_rate", "test").of(row)).toBe(1);
    const silent = madeRow("q", 0, { turns: 0, end: "context-limit" });
    expect(rowMetrics.get("invalid_action_rate", "test").of(silent)).toBeNull();
    expect(rowMetrics.get("turn_limit_rate", "test").of(silent)).toBe(0);
  });
});
