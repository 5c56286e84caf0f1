import { describe, expect, it } from "vitest";
import { sparkline } from "../../src/view/sparkline.ts";

describe("a sparkline", () => {
  it("goes from the lowest bar for the least value to the highest for the greatest", () => {
    expect(sparkline([0, 1, 2, 3, 4, 5, 6, 7], 20)).toBe("▁▂▃▄▅▆▇█");
    expect(sparkline([3, -1], 20)).toBe("█▁");
  });

  it("takes the mean of neighbours where there are more values than columns", () => {
    // Means .5, 2.5, 4.5, 6.5: at 0, 1/3, 2/3 and 1 of seven.
    expect(sparkline([0, 1, 2, 3, 4, 5, 6, 7], 4)).toBe("▁▃▆█");
  });

  it("keeps a small change small", () => {
    expect(sparkline([1, 0.99, 1], 3, true)).toBe("███");
    expect(sparkline([0, 0.01], 2, true)).toBe("▁▁");
    expect(sparkline([1, 0.5, 1], 3, true)).toBe("█▁█");
    expect(sparkline([20, 20.1, 19.9], 3)).toBe("▅▅▄");
  });

  it("puts what never changes in the middle, and leaves a gap for what is not known", () => {
    expect(sparkline([2, 2, 2], 3)).toBe("▅▅▅");
    expect(sparkline([0, NaN, 1], 3)).toBe("▁ █");
    expect(sparkline([NaN, 1, NaN, 3], 2)).toBe("▁█");
    expect(sparkline([NaN, NaN], 2)).toBe("  ");
    expect(sparkline([], 5)).toBe("");
    expect(sparkline([1, 2], 0)).toBe("");
  });
});
