import { describe, expect, it } from "vitest";
import { answerMetrics, scoreAnswers } from "../../../src/evaluate/metrics/answer-metrics.ts";

describe("scoreAnswers", () => {
  it("gives the mean of each metric over all answers", () => {
    const scores = scoreAnswers([
      { prediction: "The Oslo fjord", references: ["Oslo", "Bergen"] },
      { prediction: "Lima", references: ["Lima"] },
      { prediction: "Fjord of Oslo", references: ["Oslo fjord"] },
      { prediction: "x", references: ["y"] },
    ]);
    expect(scores.n).toBe(4);
    expect(scores.metrics.em).toBe(0.25);
    // 2·(1/2)·1/(3/2) = 2/3; 1; 2·(2/3)·1/(5/3) = 4/5; 0
    expect(scores.metrics.f1).toBeCloseTo((2 / 3 + 1 + 0.8) / 4, 12);
    expect(scores.metrics.cover_em).toBe(0.5);
    expect(scores.metrics.token_cover).toBe(0.75);
  });

  it("counts an answer that was not given as wrong", () => {
    const { n, metrics } = scoreAnswers([
      { prediction: null, references: ["a note"] },
      { prediction: "a note", references: ["a note"] },
    ]);
    expect(n).toBe(2);
    expect(Object.values(metrics)).toEqual(answerMetrics.parts.map(() => 0.5));
  });

  it("applies the normalisation that it is given", () => {
    const answers = [{ prediction: "acid-house", references: ["Acid house"] }];
    expect(scoreAnswers(answers).metrics.em).toBe(0);
    expect(scoreAnswers(answers, "words").metrics.em).toBe(1);
  });
});
