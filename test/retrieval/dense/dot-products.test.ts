import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { blockMaker, MAX_TILE } from "../../../src/retrieval/dense/dot-products.ts";
import {
  decodeVectors,
  encodeVectors,
  VECTOR_STORAGES,
  vectorFormat,
} from "../../../src/retrieval/dense/vector-format.ts";

function drawn(seed: string, count: number, dimensions: number): Float32Array {
  const draw = random(seed);
  return Float32Array.from({ length: count * dimensions }, () => draw.normal());
}

describe("stored vectors", () => {
  it("are exact as f32, within 2⁻¹¹ of the value as f16, within half a step as int8", () => {
    const vector = Float32Array.of(1, -0.3, 0.01, 0, 1e-6, 0.5);
    const stored = VECTOR_STORAGES.map((storage) => {
      const format = vectorFormat(storage, 6);
      const bytes = encodeVectors(format, vector);
      expect(bytes.length).toBe({ f32: 32, f16: 16, int8: 12 }[storage]);
      return decodeVectors(format, bytes);
    });
    expect(stored[0]).toEqual(vector);
    for (const [d, x] of vector.entries()) {
      expect(Math.abs(stored[1]![d]! - x)).toBeLessThanOrEqual(Math.abs(x) * 2 ** -11 + 2 ** -25);
      expect(Math.abs(stored[2]![d]! - x)).toBeLessThanOrEqual(0.5 / 127 + 1e-7);
    }
  });

  it("keep zeros as zeros, and small numbers as halves below 2⁻¹⁴", () => {
    for (const storage of VECTOR_STORAGES) {
      const format = vectorFormat(storage, 3);
      const zeros = new Float32Array(3);
      expect(decodeVectors(format, encodeVectors(format, zeros))).toEqual(zeros);
    }
    const halves = vectorFormat("f16", 2);
    const small = Float32Array.of(3 * 2 ** -24, -(2 ** -20));
    expect(decodeVectors(halves, encodeVectors(halves, small))).toEqual(small);
  });
});

describe("inner products", () => {
  for (const storage of VECTOR_STORAGES) {
    for (const dimensions of [1, 7, 8, 24, 100]) {
      it(`in SIMD equal the plain loop's: ${storage}, ${dimensions} dimensions`, () => {
        const format = vectorFormat(storage, dimensions);
        const bytes = encodeVectors(format, drawn("vectors", MAX_TILE + 3, dimensions));
        const queries = drawn("queries", 6, dimensions);
        const [simd, plain] = (["simd", "plain"] as const).map((code) => {
          const block = blockMaker(format, { code }).make(MAX_TILE + 3);
          block.records.set(bytes);
          block.setQueries(queries);
          return [block.scores(0, MAX_TILE, 0), block.scores(MAX_TILE, 3, 1)].map((scores) =>
            Array.from(scores),
          );
        });
        // Queries of int8 vectors are rounded to 12 bits.
        const tolerance = (storage === "int8" ? 2e-3 : 1e-6) * dimensions;
        for (const part of [0, 1]) {
          for (const [i, score] of simd![part]!.entries()) {
            expect(Math.abs(score - plain![part]![i]!)).toBeLessThan(tolerance + 1e-5);
          }
        }
        expect(simd![1]!.slice(2, 4)).toEqual([0, 0]); // queries 6 and 7 were not set
      });
    }
  }

  it.each([1, 7, 8, 24, 100])(
    "and squared distances in SIMD equal the plain loop's: f32, %i dimensions",
    (dimensions) => {
      const format = vectorFormat("f32", dimensions);
      const queries = drawn("queries", 6, dimensions);
      const [simd, plain] = (["simd", "plain"] as const).map((code) => {
        const maker = blockMaker(format, { metric: "l2", code });
        expect(maker.code).toBe(code);
        const block = maker.make(3);
        block.records.set(encodeVectors(format, drawn("vectors", 2, dimensions)));
        // The third record is the second query.
        const same = queries.subarray(dimensions, 2 * dimensions);
        block.records.set(encodeVectors(format, same), 2 * format.recordBytes);
        block.setQueries(queries);
        return Array.from(block.scores(0, 3, 0));
      });
      for (const [i, score] of simd!.entries())
        expect(Math.abs(score - plain![i]!)).toBeLessThan(1e-5 * dimensions);
      expect([simd![9], plain![9]]).toEqual([0, 0]);
      expect(Math.max(...plain!)).toBe(0);
    },
  );

  it("are right for halves below 2⁻¹⁴ and for signs", () => {
    const format = vectorFormat("f16", 8);
    const vector = Float32Array.of(2 ** -24, -(2 ** -20), 3, -0.5, 0, 0, 0, 65504);
    for (let d = 0; d < 8; d++) {
      const block = blockMaker(format).make(1);
      block.records.set(encodeVectors(format, vector));
      block.setQueries(Float32Array.from({ length: 8 }, (_, at) => (at === d ? 1 : 0)));
      expect(block.scores(0, 1, 0)[0]).toBe(vector[d]);
    }
  });
});
