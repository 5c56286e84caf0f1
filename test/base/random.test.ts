import { describe, expect, it } from "vitest";
import { random, randomFromState, seedFrom } from "../../src/base/random.ts";

const draws = (seed: number | string, n: number): number[] => {
  const stream = random(seed);
  return Array.from({ length: n }, () => stream.next());
};

describe("random", () => {
  it("gives the same numbers for the same seed and others for another", () => {
    expect(draws(7, 5)).toEqual(draws(7, 5));
    expect(draws(7, 5)).not.toEqual(draws(8, 5));
    expect(draws(7, 5)).toEqual(draws("7", 5));
  });

  it("never changes what a seed gives", () => {
    expect(draws(7, 3)).toMatchInlineSnapshot(`
      [
        0.545610069995746,
        0.5296879154630005,
        0.373597051249817,
      ]
    `);
  });

  it("goes on where its state was taken", () => {
    const stream = random(1);
    stream.next();
    const again = randomFromState(stream.state());
    expect([again.next(), again.int(10)]).toEqual([stream.next(), stream.int(10)]);
  });

  it("derives streams by name without advancing", () => {
    const stream = random(1);
    const derived = stream.derive("rollout", 3).next();
    expect(stream.derive("rollout", 3).next()).toBe(derived);
    expect(stream.derive("rollout", 4).next()).not.toBe(derived);
    expect(stream.next()).toBe(random(1).next());
  });

  it("fills [0, 1) evenly", () => {
    const counts = new Array<number>(10).fill(0);
    for (const draw of draws(3, 10_000)) counts[Math.floor(draw * 10)]! += 1;
    // Expected 1000 each with deviation 30: five deviations either way.
    for (const count of counts) expect(Math.abs(count - 1000)).toBeLessThan(150);
  });

  it("draws normals of mean 0 and deviation 1", () => {
    const stream = random(4);
    const values = Array.from({ length: 10_000 }, () => stream.normal());
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
    expect(Math.abs(mean)).toBeLessThan(0.05);
    expect(Math.abs(variance - 1)).toBeLessThan(0.07);
  });

  it("shuffles without losing or repeating, and leaves its input alone", () => {
    const items = [1, 2, 3, 4, 5, 6, 7, 8];
    const shuffled = random(5).shuffle(items);
    expect(shuffled.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    expect(shuffled).not.toEqual(items);
    expect(items[0]).toBe(1);
  });

  it("draws whole numbers below n and items of a list", () => {
    const stream = random(6);
    const seen = new Set(Array.from({ length: 200 }, () => stream.int(3)));
    expect([...seen].sort()).toEqual([0, 1, 2]);
    expect(["a", "b"]).toContain(stream.pick(["a", "b"]));
  });
});

describe("seedFrom", () => {
  it("gives a 32-bit number that depends on every key and their borders", () => {
    expect(seedFrom("a", 1)).toBe(seedFrom("a", 1));
    expect(seedFrom("a", 1)).not.toBe(seedFrom("a1"));
    expect(seedFrom("a") >>> 0).toBe(seedFrom("a"));
  });
});
