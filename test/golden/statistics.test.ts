import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { compareArms, type SeededValue } from "../../src/experiment/arm-comparison.ts";
import { wilsonInterval } from "../../src/evaluate/statistics.ts";
import { centralQuantile, regularizedBeta, twoSidedP } from "../../src/evaluate/student-t.ts";

interface Tested {
  p: number;
  ci95: [number, number];
}

interface Golden {
  tolerance: number;
  quantiles: [degrees: number, t: number][];
  twoSided: [t: number, degrees: number, p: number][];
  beta: [x: number, a: number, b: number, value: number][];
  oneSample: ({ values: number[] } & Tested)[];
  paired: ({ left: number[]; right: number[] } & Tested)[];
  welch: ({ left: number[]; right: number[] } & Tested)[];
  wilson: [successes: number, trials: number, low: number, high: number][];
}

const golden = JSON.parse(
  await readFile(new URL("statistics.json", import.meta.url), "utf8"),
) as Golden;

/** Relative for large numbers, absolute for small ones. */
function expectNear(found: number, expected: number): void {
  const allowed = golden.tolerance * Math.max(1, Math.abs(expected));
  expect(Math.abs(found - expected), `${found} for ${expected}`).toBeLessThanOrEqual(allowed);
}

function expectRelative(found: number, expected: number): void {
  expect(Math.abs(found - expected)).toBeLessThanOrEqual(golden.tolerance * expected);
}

function expectTest(found: ReturnType<typeof compareArms>, { p, ci95 }: Tested): void {
  expectNear(found.p!, p);
  expectNear(found.ci95![0], ci95[0]);
  expectNear(found.ci95![1], ci95[1]);
}

const seeded = (values: readonly number[], from = 0): SeededValue[] =>
  values.map((value, i) => ({ seed: from + i, value }));

describe("statistics beside scipy's", () => {
  it("gives its t quantiles, for whole and broken degrees of freedom", () => {
    for (const [degrees, t] of golden.quantiles) expectNear(centralQuantile(0.95, degrees), t);
  });

  it("gives its two-sided probabilities and its incomplete beta function, in relative terms too", () => {
    for (const [t, degrees, p] of golden.twoSided) {
      expectRelative(twoSidedP(t, degrees), p);
    }
    for (const [x, a, b, value] of golden.beta) {
      expectRelative(regularizedBeta(x, a, b), value);
    }
  });

  it("gives its one-sample, paired and Welch tests with their intervals", () => {
    for (const test of golden.oneSample) {
      const found = compareArms(seeded(test.values), 0);
      expect(found.method).toBe("one-sample-t");
      expectTest(found, test);
    }
    for (const test of golden.paired) {
      const found = compareArms(seeded(test.left), seeded(test.right));
      expect(found.method).toBe("paired-t");
      expectTest(found, test);
    }
    for (const test of golden.welch) {
      const found = compareArms(seeded(test.left), seeded(test.right, 100));
      expect(found.method).toBe("welch-t");
      expectTest(found, test);
    }
  });

  it("gives its Wilson intervals", () => {
    for (const [successes, trials, low, high] of golden.wilson) {
      const found = wilsonInterval(successes, trials);
      expectNear(found[0], low);
      expectNear(found[1], high);
    }
  });
});
