import { describe, expect, it } from "vitest";
import { axisTo, percent } from "../../../src/view/charts/marks.ts";

describe("an axis", () => {
  it("ends at a round number that holds the largest value", () => {
    expect(axisTo(1).ticks).toEqual([0, 0.25, 0.5, 0.75, 1]);
    expect(axisTo(0.37).ticks).toEqual([0, 0.1, 0.2, 0.3, 0.4]);
    expect(axisTo(0.41).ticks).toEqual([0, 0.2, 0.4, 0.6]);
    expect(axisTo(730).ticks).toEqual([0, 200, 400, 600, 800]);
  });

  it("has a sensible range where there is nothing to show", () => {
    expect(axisTo(0)).toEqual({ max: 1, ticks: [0, 0.5, 1] });
    expect(axisTo(Number.NaN)).toEqual({ max: 1, ticks: [0, 0.5, 1] });
  });

  it("places values in percent and keeps them inside", () => {
    expect([0, 0.25, 1 / 3, 2].map((value) => percent(value, { max: 1 }))).toEqual([
      ...["0%", "25%", "33.333%", "100%"],
    ]);
  });
});
