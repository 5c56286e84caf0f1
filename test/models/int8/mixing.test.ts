import { describe, expect, it } from "vitest";
import { mixingBlock, mixingMatrix } from "../../../src/models/int8/matrices.ts";

describe("mixingMatrix", () => {
  it.each([1, 2, 3, 6, 32, 48, 72, 144])("of size %i is symmetric, orthogonal and even", (size) => {
    const q = mixingMatrix(size);
    let [skew, off, largest] = [0, 0, 0];
    for (let i = 0; i < size; i++) {
      for (let j = 0; j < size; j++) {
        skew = Math.max(skew, Math.abs(q[i * size + j]! - q[j * size + i]!));
        largest = Math.max(largest, Math.abs(q[i * size + j]!));
        let dot = 0;
        for (let k = 0; k < size; k++) dot += q[i * size + k]! * q[j * size + k]!;
        off = Math.max(off, Math.abs(dot - (i === j ? 1 : 0)));
      }
    }
    expect(skew).toBeLessThan(1e-7);
    expect(off).toBeLessThan(1e-6);
    // |cos + sin| is at most √2: no coordinate of a mixed unit vector is large.
    expect(largest).toBeLessThanOrEqual(Math.SQRT2 / Math.sqrt(size) + 1e-7);
  });

  it("is, up to signs of rows and columns, Hadamard's matrix for two", () => {
    const half = Math.fround(Math.SQRT1_2);
    const numbers = [...mixingMatrix(2)];
    expect(numbers.map(Math.abs)).toEqual([half, half, half, half]);
    expect(numbers[0]! * numbers[3]!).toBeLessThan(0);
  });
});

it.each([
  [1536, 64],
  [48, 16],
  [172, 4],
  [7, 1],
])("mixes %i coordinates in blocks of %i", (size, block) => {
  expect(mixingBlock(size)).toBe(block);
});
