import { describe, expect, it } from "vitest";
import { answerMetrics } from "../../../src/evaluate/metrics/answer-metrics.ts";
import { scoreAnswers } from "../../../src/evaluate/score-answers.ts";

describe("scoreAnswers", () => {
  it("gives the mean of each metric over all answers", () => {
    const scores = scoreAnswers([
      { prediction: "The Oslo fjord", references: ["Oslo", "Bergen"] },
      { prediction: "Lima", references: ["Lima"] },
      { prediction: "Fjord of Oslo", references: ["Oslo fjord"] },
      { prediction: "x", references: ["y"] },
    ]);
    expect(scores.n).toBe(4);
    expect(scores.metrics["em"]).toBe(0.25);
    // 2·(1/2)·1/(3/2) = 2/3; 1; 2·(2/3)·1/(5/3) = 4/5; 0
    expect(scores.metrics["f1"]).toBeCloseTo((2 / 3 + 1 + 0.8) / 4, 12);
    expect(scores.metrics["cover_em"]).toBe(0.5);
    expect(scores.metrics["token_cover"]).toBe(0.75);
  });

  it("counts an answer that was not given as wrong", () => {
    const { n, metrics } = scoreAnswers([
      { prediction: null, references: ["a note"] },
      { prediction: "a note", references: ["a note"] },
    ]);
    expect(n).toBe(2);
    const { drop_precision, ...others } = metrics;
    expect(Object.values(others)).toEqual(answerMetrics.names.slice(1).map(() => 0.5));
    // DROP's evaluation: of no words, all are right.
    expect(drop_precision).toBe(1);
  });

  it("applies the normalisation that it is given", () => {
    const answers = [{ prediction: "acid-house", references: ["Acid house"] }];
    expect(scoreAnswers(answers).metrics["em"]).toBe(0);
    expect(scoreAnswers(answers, { normalization: "words" }).metrics["em"]).toBe(1);
  });
});
