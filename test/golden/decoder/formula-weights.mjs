// Weights that two languages compute alike to the bit, so that no golden file holds them: decoder.py has the same formula.

/** A number in [−1, 1) for element i of the tensor with that place in the sorted list of names. */
function uniform(place, i) {
  let x = Math.imul(i + 1, 0x9e3779b1) + Math.imul(place + 1, 0x85ebca77);
  x = Math.imul(x ^ (x >>> 15), 0x2c1b3c6d);
  x = Math.imul(x ^ (x >>> 12), 0x297a2d39);
  return ((x ^ (x >>> 15)) >>> 0) / 2 ** 31 - 1;
}

/** Matrices [out, in] within ±2.5/√in, norms 1 ± .3, biases within ±.3. */
export function formulaWeights(specs) {
  const names = specs.map(({ name }) => name).sort();
  return specs.map(({ name, shape }) => {
    const place = names.indexOf(name);
    const size = shape.reduce((n, axis) => n * axis, 1);
    const scale = shape.length === 2 ? 2.5 / Math.sqrt(shape[1]) : 0.3;
    const shift = shape.length === 2 || name.endsWith(".bias") ? 0 : 1;
    const data = Float32Array.from({ length: size }, (_, i) => shift + scale * uniform(place, i));
    return { name, shape, data };
  });
}

/** So many token ids. */
export function formulaIds(count, vocabSize) {
  return Array.from({ length: count }, (_, i) =>
    Math.floor(((uniform(-1, i) + 1) / 2) * vocabSize),
  );
}
