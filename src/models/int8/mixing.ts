/**
 * A matrix [size, size], row by row, that mixes all coordinates of a vector evenly: orthogonal, symmetric, and so its own inverse. A
 * Hadamard matrix for the powers of two in the size, times (Kronecker) a Hartley matrix of its odd rest, with random signs.
 *
 * A few coordinates of a language model's hidden states are much larger than the others. Mixed, all are of one size, and 8 bits hold
 * each of them about as exactly (QuaRot: Ashkboos et al., arXiv 2404.00456, where a Hadamard matrix of a table takes Hartley's place).
 */
export function mixingMatrix(size: number): Float32Array {
  let odd = size;
  while (odd % 2 === 0) odd /= 2;
  const hartley = Array.from({ length: odd }, (_, i) => {
    const angle = (2 * Math.PI * i) / odd;
    return (Math.cos(angle) + Math.sin(angle)) / Math.sqrt(size);
  });
  const numbers = new Float32Array(size * size);
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      const [a, b] = [Math.floor(row / odd), Math.floor(column / odd)];
      const flips = bitCount(a & b) + signBit(row) + signBit(column);
      const value = hartley[((row % odd) * (column % odd)) % odd]!;
      numbers[row * size + column] = flips % 2 === 0 ? value : -value;
    }
  }
  return numbers;
}

/** Largest power of two up to 64 that divides a size: the block whose coordinates are mixed where the mixing is a product of its own. */
export function mixingBlock(size: number): number {
  return [64, 32, 16, 8, 4, 2].find((block) => size % block === 0) ?? 1;
}

function bitCount(bits: number): number {
  let count = 0;
  for (let rest = bits; rest > 0; rest >>>= 1) count += rest & 1;
  return count;
}

/** 0 or 1, evenly and without a pattern of the bits: from the product with an odd constant (Knuth's multiplicative hashing). */
function signBit(index: number): number {
  return Math.imul(index + 1, 0x9e3779b1) >>> 31;
}
