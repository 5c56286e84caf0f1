/** IEEE half to float: 1 sign, 5 exponent (bias 15), 10 fraction bits. */
export function halfToFloat(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >>> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

const scratch = new Float32Array(1);
const scratchBits = new Uint32Array(scratch.buffer);

/** float32 to IEEE half, rounded to nearest, ties to even; beyond 65 504 becomes infinity. */
export function floatToHalf(value: number): number {
  scratch[0] = value;
  return floatBitsToHalf(scratchBits[0] ?? 0);
}

/** `floatToHalf` on the bits of a float32. */
export function floatBitsToHalf(bits: number): number {
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = bits & 0x7fff_ffff;
  if (magnitude > 0x7f80_0000) return 0x7e00;
  // 65 520 and above rounds to infinity.
  if (magnitude >= 0x477f_f000) return sign | 0x7c00;
  if (magnitude >= 0x3880_0000) {
    // Normal: drop thirteen fraction bits and lower the exponent's bias by 112.
    return sign | ((magnitude + 0xfff + ((magnitude >>> 13) & 1) - 0x3800_0000) >>> 13);
  }
  // Subnormal: multiples of 2⁻²⁴. Less than half a multiple becomes 0.
  const dropped = 126 - (magnitude >>> 23);
  if (dropped > 24) return sign;
  const fraction = (magnitude & 0x7f_ffff) | 0x80_0000;
  const steps = fraction >>> dropped;
  const rest = fraction & ((1 << dropped) - 1);
  const tie = 1 << (dropped - 1);
  return sign | (rest > tie || (rest === tie && (steps & 1) === 1) ? steps + 1 : steps);
}
