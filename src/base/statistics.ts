/** Arithmetic mean; NaN of no values. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Arithmetic mean; 0 of no values. */
export function meanOrZero(values: readonly number[]): number {
  return values.length === 0 ? 0 : mean(values);
}

/** Sample variance (n − 1 in the denominator); NaN below two values. */
export function sampleVariance(values: readonly number[]): number {
  if (values.length < 2) return Number.NaN;
  const centre = mean(values);
  return values.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (values.length - 1);
}

/** Standard error of the mean: sample deviation (n − 1) over √n; NaN below two values. */
export function standardError(values: readonly number[]): number {
  return Math.sqrt(sampleVariance(values) / values.length);
}
