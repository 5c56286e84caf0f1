import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { compareMeasured } from "../../../src/experiment/claims/claim-test.ts";
import { detectableDifference, formatDetectable } from "../../../src/experiment/claims/power.ts";

const draw = random(1).derive("power");

describe("detectableDifference", () => {
  const error = (total: number, degrees: number) => ({
    total,
    degrees,
    seeds: total,
    questions: 0,
  });

  it("is the standard error times both t quantiles", () => {
    // t(2) of .975 is 4.3027, of .8 it is 1.0607.
    expect(detectableDifference(error(0.01, 2), 0.05)).toBeCloseTo(0.05363, 4);
    // t(100): 1.9840 + .8452.
    expect(detectableDifference(error(0.1, 100), 0.05)).toBeCloseTo(0.28292, 4);
  });

  it("is unknown where nothing is", () => {
    expect(detectableDifference(null, 0.05)).toBeNull();
  });

  it.each([3, 5, 8])("is found by %i seeds in about 80 of 100 cases", (seeds) => {
    // The true error of the mean of values with deviation 1.
    const known = error(1 / Math.sqrt(seeds), seeds - 1);
    const effect = detectableDifference(known, 0.05) ?? Number.NaN;
    const cases = 3000;
    let found = 0;
    for (let i = 0; i < cases; i++) {
      const bySeed = Array.from({ length: seeds }, () => effect + draw.normal());
      const { p } = compareMeasured({ bySeed, byQuestion: null }, 0, { isShare: false });
      if (p !== null && p < 0.05) found++;
    }
    expect(found / cases).toBeGreaterThan(0.75);
    expect(found / cases).toBeLessThan(0.87);
  });
});

describe("formatDetectable", () => {
  it("says of a share when no difference could have been found", () => {
    const written = [formatDetectable(true)(4.471), formatDetectable(true)(0.0536)];
    expect([...written, formatDetectable(false)(4.471)]).toEqual(["> 1", "0.054", "4.471"]);
  });
});
