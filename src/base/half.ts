/** IEEE half to float: 1 sign, 5 exponent (bias 15), 10 fraction bits. */
export function halfToFloat(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >>> 10) & 0x1f;
  const fraction = half & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** Float to IEEE half, rounded to nearest, ties to even; beyond 65 504 becomes infinity. */
export function floatToHalf(value: number): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  const magnitude = Math.abs(value);
  if (Number.isNaN(value)) return sign | 0x7e00;
  if (magnitude >= 65520) return sign | 0x7c00;
  // Steps of the half's grid at this magnitude; below 2⁻¹⁴ the grid is that of the subnormals.
  const exponent = Math.max(-14, Math.floor(Math.log2(magnitude === 0 ? 1e-30 : magnitude)));
  const steps = roundTiesToEven(magnitude / 2 ** (exponent - 10));
  // A normal number's leading step (1024) carries into the exponent field; a subnormal has none to carry.
  return sign | (((exponent + 14) << 10) + steps);
}

function roundTiesToEven(x: number): number {
  const floor = Math.floor(x);
  const rest = x - floor;
  if (rest > 0.5 || (rest === 0.5 && floor % 2 === 1)) return floor + 1;
  return floor;
}
