import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { holmAdjusted, pairedPermutationTest } from "../../src/evaluate/statistics.ts";

interface Golden {
  tolerance: number;
  drawnTolerance: number;
  exact: { differences: number[]; p: number }[];
  drawn: { differences: number[]; p: number }[];
  holm: [given: number[], adjusted: number[]][];
}

const golden = JSON.parse(
  await readFile(new URL("permutation-test.json", import.meta.url), "utf8"),
) as Golden;

describe("permutation test beside scipy's and statsmodels'", () => {
  it("gives the p of all sign patterns where there are few", () => {
    for (const { differences, p } of golden.exact) {
      const found = pairedPermutationTest(differences, { seed: 1 });
      expect(found.method).toBe("exact");
      expect(Math.abs(found.p - p), `${found.p} for ${p}`).toBeLessThan(golden.tolerance);
    }
  });

  it("estimates it where there are many", () => {
    for (const { differences, p } of golden.drawn) {
      const found = pairedPermutationTest(differences, { seed: 1 });
      expect(found.method).toBe("drawn");
      expect(Math.abs(found.p - p), `${found.p} for ${p}`).toBeLessThan(golden.drawnTolerance);
    }
  });

  it("adjusts by Holm", () => {
    for (const [given, adjusted] of golden.holm) {
      for (const [i, p] of holmAdjusted(given).entries()) expect(p).toBeCloseTo(adjusted[i]!, 12);
    }
  });
});
