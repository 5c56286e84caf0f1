import { describe, expect, it } from "vitest";
import { permutation } from "../../../src/worlds/tiny/permutation.ts";

const image = (size: number, key: number): number[] => {
  const order = permutation(size, key);
  return Array.from({ length: size }, (_, i) => order.at(i));
};

describe("permutation", () => {
  it.each([1, 2, 3, 5, 16, 97, 1000, 1001])("maps 0 … %i-1 onto itself", (size) => {
    const sorted = image(size, 42).sort((a, b) => a - b);
    expect(sorted).toEqual(Array.from({ length: size }, (_, i) => i));
  });

  it("runs backwards", () => {
    const order = permutation(12_345, 7);
    for (let i = 0; i < 12_345; i += 7) expect(order.indexOf(order.at(i))).toBe(i);
  });

  it("depends on its key and on nothing else", () => {
    expect(image(100, 1)).toEqual(image(100, 1));
    expect(image(100, 1)).not.toEqual(image(100, 2));
  });

  it("leaves no visible order", () => {
    const values = image(10_000, 3);
    const rising = values.filter((value, i) => i > 0 && value > (values[i - 1] ?? 0)).length;
    expect(rising).toBeGreaterThan(4850);
    expect(rising).toBeLessThan(5150);
  });
});
