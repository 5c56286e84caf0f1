import { describe, expect, it } from "vitest";
import { curveAxis } from "../../../src/view/charts/marks.ts";

describe("curveAxis", () => {
  it("starts from 0 where values come near it, on either side", () => {
    expect(curveAxis([0.31, 0.94]).ticks).toEqual([0, 0.5, 1]);
    expect(curveAxis([-18, -2]).ticks).toEqual([-20, -10, 0]);
  });

  it("stays near values that lie far from 0, and puts alike ones in the middle", () => {
    expect(curveAxis([96, 104]).ticks).toEqual([95, 100, 105]);
    const { min, max } = curveAxis([1e-4, 1e-4]);
    expect([min < 1e-4, max > 1e-4]).toEqual([true, true]);
    expect(curveAxis([0, 0]).ticks[0]).toBe(0);
    expect(curveAxis([])).toEqual({ min: 0, max: 1, ticks: [0, 0.5, 1] });
  });
});
