import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { crossedBootstrap } from "../../../src/evaluate/compare/crossed-bootstrap.ts";
import { pairedBootstrap } from "../../../src/evaluate/statistics.ts";

describe("crossedBootstrap", () => {
  it("has no width where neither questions nor runs differ", () => {
    const found = crossedBootstrap([[1, 1, 1]], [[0, 0, 0], [0, 0, 0]], { seed: 1 }); // prettier-ignore
    expect(found).toEqual({ difference: 1, ci95: [1, 1], standardError: 0 });
  });

  it("widens with the spread between runs, on questions that are all alike", () => {
    // Two runs a side: the mean of two redrawn runs is 0, .5 or 1 with chances ¼, ½, ¼.
    const found = crossedBootstrap([[1, 1], [0, 0]], [[0, 0]], { seed: 1, resamples: 20_000 }); // prettier-ignore
    expect(found.difference).toBe(0.5);
    expect(found.ci95).toEqual([0, 1]);
    expect(found.standardError).toBeCloseTo(Math.sqrt(1 / 8), 2);
  });

  it("is the paired bootstrap where each side has one run", () => {
    const draw = random("crossed");
    const [left, right] = [0.6, 0.5].map((share) =>
      Array.from({ length: 300 }, () => Number(draw.next() < share)),
    );
    const options = { seed: 1, resamples: 20_000 };
    const paired = pairedBootstrap(left!, right!, options);
    const crossed = crossedBootstrap([left!], [right!], options);
    expect(crossed.difference).toBeCloseTo(paired.difference, 12);
    for (const end of [0, 1] as const) {
      expect(Math.abs(crossed.ci95[end] - paired.ci95[end])).toBeLessThan(0.005);
    }
  });

  it("gives the same for the same seed", () => {
    const runs = [[0, 1, 1, 0, 1], [1, 1, 0, 0, 1]]; // prettier-ignore
    const other = [[0, 0, 1, 0, 0]];
    expect(crossedBootstrap(runs, other, { seed: 3 })).toEqual(
      crossedBootstrap(runs, other, { seed: 3 }),
    );
  });
});
