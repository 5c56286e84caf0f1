import { describe, expect, it } from "vitest";
import { sftBatches } from "../../src/algorithms/sft-batches.ts";

const asIs = { epochs: 1, order: "as-is", seed: 0 } as const;

describe("sftBatches", () => {
  it("fills a step with so many samples, and the last of an epoch with what is left", () => {
    const batch = { size: 2, unit: "samples" } as const;
    expect(sftBatches([9, 9, 9], { ...asIs, batch, epochs: 2 })).toEqual([
      [0, 1],
      [2],
      [0, 1],
      [2],
    ]);
  });

  it("fills a step with as many samples as make up so many tokens, a longer one alone", () => {
    const batch = { size: 10, unit: "tokens" } as const;
    expect(sftBatches([5, 5, 1, 30, 2, 9], { ...asIs, batch })).toEqual([
      [0, 1],
      [2],
      [3],
      [4],
      [5],
    ]);
  });

  it("goes through every sample once an epoch, in an order that differs from epoch to epoch and not from run to run", () => {
    const sizes = Array.from({ length: 20 }, () => 1);
    const options = { epochs: 2, batch: { size: 20, unit: "samples" }, order: "shuffled" } as const;
    const [first = [], second = []] = sftBatches(sizes, { ...options, seed: 1 });
    expect(first).not.toEqual(second);
    for (const epoch of [first, second]) {
      expect(epoch.toSorted((a, b) => a - b)).toEqual(sizes.map((_, i) => i));
    }
    expect(sftBatches(sizes, { ...options, seed: 1 })).toEqual([first, second]);
    expect(sftBatches(sizes, { ...options, seed: 2 })[0]).not.toEqual(first);
  });
});
