// Vectors for measuring nearest-neighbour search where no real set is large enough.
import { random } from "../../dist/base/random.js";

/**
 * Unit vectors from a mixture of Gaussians: centres are standard normal, a vector is a centre plus normal noise of
 * `spread` on every axis, scaled to length 1. The queries are further draws from the same mixture.
 *
 * @returns {{ vectors: Float32Array, queries: Float32Array }} [count, dimensions] and [queries, dimensions].
 */
export function gaussianMixture({ count, queries, dimensions, centres, spread, seed }) {
  const middle = normals(random(seed).derive("centres"), centres * dimensions);
  const draw = (name, n) => {
    const stream = random(seed).derive(name);
    const vectors = new Float32Array(n * dimensions);
    for (let i = 0; i < n; i++) {
      const row = vectors.subarray(i * dimensions, (i + 1) * dimensions);
      const from = stream.int(centres) * dimensions;
      let squares = 0;
      for (let d = 0; d < dimensions; d++) {
        row[d] = middle[from + d] + spread * stream.normal();
        squares += row[d] * row[d];
      }
      const length = Math.sqrt(squares);
      for (let d = 0; d < dimensions; d++) row[d] /= length;
    }
    return vectors;
  };
  return { vectors: draw("vectors", count), queries: draw("queries", queries) };
}

function normals(stream, n) {
  return Float32Array.from({ length: n }, () => stream.normal());
}
