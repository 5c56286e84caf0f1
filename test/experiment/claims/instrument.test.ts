import { describe, expect, it } from "vitest";
import type { ClaimResult } from "../../../src/experiment/claims/claim-results.ts";
import {
  calibrationOf,
  calibrationProblems,
  judgedByInstrument,
} from "../../../src/experiment/claims/instrument.ts";

const claim = (
  id: string,
  verdict: ClaimResult["verdict"],
  role: ClaimResult["role"] = "claim",
): ClaimResult => ({
  id,
  verdict,
  role,
  statement: "",
  metric: "eval.after.em",
  relation: "a > b",
  source: "",
  kind: "method",
  effect: null,
  unequal: [],
  level: 0.05,
  instrument: null,
  questions: null,
  isShare: true,
  comparisons: [],
  arms: [],
});

const calibration = (start: number, end: number) =>
  calibrationOf({
    metric: "em",
    seeds: [1, 2],
    start: { range: [0.05, 0.3], values: [start - 0.01, start + 0.01] },
    end: { range: [0.35, 0.75], values: [end, end] },
  });

describe("judgedByInstrument", () => {
  const claims = [claim("open", "undecided"), claim("found", "supported")];

  it("leaves verdicts alone where the control lies within and the positive control is found", () => {
    const all = [...claims, claim("control", "supported", "positive-control")];
    expect(judgedByInstrument(all, calibration(0.1, 0.5), 0.05)).toEqual(all);
    expect(judgedByInstrument(claims, null, 0.05)).toEqual(claims);
  });

  it("says that an open claim could not be shown without a positive control, and keeps what was found", () => {
    const all = [...claims, claim("oracle", "undecided", "positive-control")];
    const [open, found, control] = judgedByInstrument(all, null, 0.05);
    expect(open).toMatchObject({
      verdict: "not able to show",
      instrument: "the positive control oracle is not found",
    });
    expect(found?.verdict).toBe("supported");
    expect(control?.verdict).toBe("undecided");
  });

  it("waits for the last look of a positive control", () => {
    const control = { ...claim("oracle", "undecided", "positive-control"), level: 0.01 };
    const all = [...claims, control];
    expect(judgedByInstrument(all, null, 0.05)).toEqual(all);
    expect(judgedByInstrument(all, null, 0.01)[0]?.verdict).toBe("not able to show");
  });

  it("only warns where the control lies outside its ranges, unless it ends at a floor or a ceiling", () => {
    const outside = calibration(0.4, 0.9);
    expect(judgedByInstrument(claims, outside, 0.05)).toEqual(claims);
    expect(calibrationProblems(outside)).toEqual([
      "the control starts at em 0.400, outside 0.05 to 0.3",
      "the control ends at em 0.900, outside 0.35 to 0.75",
    ]);
    const out = claim("out", "ruled out");
    for (const [end, reason] of [
      [0.96, "the control ends at em 0.960, at the ceiling"],
      [0.01, "the control ends at em 0.010, at the floor"],
    ] as const) {
      const [open, found, ruledOut] = judgedByInstrument(
        [...claims, out],
        calibration(0.1, end),
        0.05,
      );
      expect([open?.instrument, ruledOut?.verdict]).toEqual([reason, "not able to show"]);
      expect(found?.verdict).toBe("supported");
    }
  });
});

describe("calibrationOf", () => {
  it("counts the bounds as inside", () => {
    const found = calibration(0.3, 0.35);
    expect(found.end).toEqual({ range: [0.35, 0.75], mean: 0.35, isInside: true });
    expect(calibration(0.1, 0.76).end.isInside).toBe(false);
  });
});
