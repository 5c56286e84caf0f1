import { describe, expect, it } from "vitest";
import { shareOut, weakQuestions } from "../../src/worlds/weak-questions.ts";

/** An epoch's pass rates by question. */
const epoch = (rates: Record<string, number>) =>
  Object.entries(rates).map(([id, rate]) => ({ id, question: `${id}?`, rate, draws: 8, tries: 1 }));

const weak = (epochs: Record<string, number>[], falling = true): string[] =>
  weakQuestions(epochs.map(epoch), { below: 0.5, falling }).map(({ id }) => id);

describe("weakQuestions", () => {
  it("takes those of one epoch that stay below the bound", () => {
    expect(weak([{ a: 0, b: 0.375, c: 0.5, d: 1 }])).toEqual(["a", "b"]);
  });

  it("takes those of several that never reach it and fall", () => {
    // Slopes over three epochs, (last - first) / 2: a -0.125, b +0.125, c 0; d reached one half once; e was never solved.
    const epochs = [
      { a: 0.375, b: 0.125, c: 0.25, d: 0.5, e: 0 },
      { a: 0.25, b: 0.25, c: 0.375, d: 0.25, e: 0 },
      { a: 0.125, b: 0.375, c: 0.25, d: 0.125, e: 0 },
    ];
    expect(weak(epochs)).toEqual(["a"]);
    expect(weak(epochs, false)).toEqual(["a", "b", "c", "e"]);
  });

  it("weighs the epochs by when they were", () => {
    // Of epochs 0, 1 and 3 alone (mean 4/3): 0.1·(-4/3) + 0.4·(-1/3) + 0.2·(5/3) = 0.0667 > 0. The other way around it falls.
    const rising = [{ a: 0.1, b: 0.2 }, { a: 0.4, b: 0.4 }, {}, { a: 0.2, b: 0.1 }];
    expect(weak(rising as Record<string, number>[])).toEqual(["b"]);
  });

  it("does not know of one that was seen once whether it falls", () => {
    expect(weak([{ a: 0.1 }, { b: 0.1 }])).toEqual([]);
  });
});

describe("shareOut", () => {
  it("gives whole shares that sum to the budget, largest remainders rounded up", () => {
    expect(shareOut(10, [1, 1, 4])).toEqual([2, 2, 6]);
    expect(shareOut(10, [2, 1])).toEqual([7, 3]);
    expect(shareOut(1, [1, 1])).toEqual([1, 0]);
    expect(shareOut(7, [0.5, 0.25, 0.25])).toEqual([3, 2, 2]);
    for (let budget = 1; budget < 60; budget++) {
      const shares = shareOut(budget, [0.1, 0.7, 0.3, 1.9]);
      expect(shares.reduce((sum, share) => sum + share, 0)).toBe(budget);
    }
  });
});
