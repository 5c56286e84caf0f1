import { describe, expect, it } from "vitest";
import { evidenceMetrics, rowMetrics } from "../../../src/evaluate/metrics/index.ts";
import { madeRow } from "../../helpers/evaluation-rows.ts";

const value = (
  name: string,
  evidence: { gold: number; given?: number; seen: number[] },
  em = 1,
): number | null =>
  rowMetrics.get(name, "test").of(madeRow("q", em, { evidence: { given: 0, ...evidence } }));

describe("evidence", () => {
  it("is the share of gold passages shown at the end, any of them, all of them", () => {
    const partly = { gold: 4, seen: [1, 1, 3] };
    expect(value("evidence_recall", partly)).toBe(0.75);
    expect(value("evidence_hit_rate", partly)).toBe(1);
    expect(value("evidence_all_rate", partly)).toBe(0);
    expect(value("evidence_hit_rate", { gold: 4, seen: [0] })).toBe(0);
    expect(value("evidence_all_rate", { gold: 2, seen: [1, 2] })).toBe(1);
  });

  it("is counted by the end of each search round, over questions that came so far", () => {
    const row = { gold: 2, seen: [0, 1, 2] };
    const recall = [1, 2, 3, 4].map((round) => value(`evidence_recall_${round}`, row));
    expect(recall).toEqual([0, 0.5, 1, null]);
  });

  it("takes what the first prompt showed for shown", () => {
    expect(value("evidence_recall", { gold: 2, given: 1, seen: [] })).toBe(0.5);
    expect(value("evidence_recall", { gold: 2, given: 2, seen: [2] })).toBe(1);
  });

  it("is told apart by what was made of it", () => {
    const all = { gold: 2, seen: [2] };
    const part = { gold: 2, seen: [1] };
    const rates = (evidence: typeof all, em: number) =>
      ["right_after_evidence_rate", "wrong_after_evidence_rate", "right_without_evidence_rate"].map(
        (name) => value(name, evidence, em),
      );
    expect(rates(all, 1)).toEqual([1, 0, 0]);
    expect(rates(all, 0)).toEqual([0, 1, 0]);
    expect(rates(part, 1)).toEqual([0, 0, 1]);
    expect(rates(part, 0)).toEqual([0, 0, 0]);
    expect(value("answer_after_evidence", all, 0)).toBe(0);
    expect(value("answer_after_evidence", part, 1)).toBeNull();
  });

  it("counts search rounds that began with everything shown", () => {
    expect(value("search_after_evidence_rate", { gold: 2, seen: [1, 2, 2, 2] })).toBe(0.5);
    expect(value("search_after_evidence_rate", { gold: 1, given: 1, seen: [1] })).toBe(1);
    expect(value("search_after_evidence_rate", { gold: 1, seen: [] })).toBeNull();
  });

  it("does not apply to questions whose gold passages are not known", () => {
    for (const metric of evidenceMetrics) expect(metric.of(madeRow("q", 1))).toBeNull();
  });
});
