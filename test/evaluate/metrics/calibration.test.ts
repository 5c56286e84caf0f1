import { describe, expect, it } from "vitest";
import { calibrationOf } from "../../../src/evaluate/evaluation-summary.ts";

const answers = (...pairs: [confidence: number, right: boolean][]) =>
  pairs.map(([confidence, right]) => ({ confidence, right }));

describe("calibrationOf", () => {
  it("averages the gap between confidence and outcome over bins of a tenth", () => {
    // Bin 0.8: mean confidence 0.85, outcome 0.5; bin 0.3: 0.3 and 1. (2 · 0.35 + 1 · 0.7) / 3
    const { ece, n } = calibrationOf(answers([0.82, true], [0.88, false], [0.3, true]));
    expect(n).toBe(3);
    expect(ece).toBeCloseTo((2 * 0.35 + 0.7) / 3, 12);
  });

  it("puts 0 into the first bin and 1 into the last", () => {
    expect(calibrationOf(answers([0, false], [1, true])).ece).toBe(0);
    expect(calibrationOf(answers([1, false], [0.95, true])).ece).toBeCloseTo(0.475, 12);
  });

  it("gives the mean squared difference of confidence and outcome", () => {
    expect(calibrationOf(answers([0.9, true], [0.6, false])).brier).toBeCloseTo(0.185, 12);
    expect(calibrationOf(answers([0.5, true], [0.5, false])).brier).toBe(0.25);
  });

  it("gives the chance that a right answer is held likelier than a wrong one, ties half", () => {
    // Pairs: 0.9>0.4, 0.9>0.6, 0.6>0.4 and 0.6=0.6: 3.5 of 4.
    const { auroc } = calibrationOf(answers([0.6, true], [0.9, true], [0.4, false], [0.6, false]));
    expect(auroc).toBe(3.5 / 4);
    expect(calibrationOf(answers([0.1, true], [0.9, false])).auroc).toBe(0);
  });

  it("has no auroc of right answers alone", () => {
    expect(calibrationOf(answers([0.9, true])).auroc).toBeNull();
  });
});
