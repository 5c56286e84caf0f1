const BARS = "▁▂▃▄▅▆▇█";

/** Least range that fills the height: .2 of a share, a fifth of the greatest magnitude of any other value. */
const LEAST_RANGE = 0.2;
/** Lifts a middle that rounding has moved below it. */
const ROUNDING = 1e-9;

/**
 * Values as a line of bars from the least to the greatest, but a small change stays small: a range below LEAST_RANGE does not fill the
 * height. If there are more values than columns, a bar shows the mean of neighbours.
 *
 * @param values NaN: unknown, a gap.
 * @param isShare values from 0 to 1: 1 is always the highest bar, 0 the lowest.
 * @example sparkline([0, 1, 2, 3], 4) // "▁▃▆█"; with 2 columns "▁█"
 * @example sparkline([1, 0.99, 1], 3, true) // "███"
 */
export function sparkline(values: readonly number[], columns: number, isShare = false): string {
  return curveRows(values, columns, isShare)[0] ?? "";
}

/** As `sparkline`, in several rows, the upper first. */
export function curveRows(
  values: readonly number[],
  columns: number,
  isShare = false,
  rows = 1,
): string[] {
  const means = bucketMeans(values, columns);
  const known = means.filter((value) => !Number.isNaN(value));
  const [least, greatest] = [Math.min(...known), Math.max(...known)];
  const magnitude = isShare ? 1 : Math.max(Math.abs(least), Math.abs(greatest));
  const range = Math.max(greatest - least, LEAST_RANGE * magnitude);
  const centred = (least + greatest - range) / 2;
  const low = isShare ? Math.min(Math.max(centred, 0), 1 - range) : centred;
  const levels = means.map((value) => {
    // Constant zeros are drawn in the middle.
    const height = range === 0 ? 0.5 : (value - low) / range;
    return Math.round(height * (BARS.length * rows - 1) + ROUNDING);
  });
  return Array.from({ length: rows }, (_, i) => {
    const foot = BARS.length * (rows - 1 - i);
    return levels.map((level) => BARS[Math.min(level - foot, BARS.length - 1)] ?? " ").join("");
  });
}

function bucketMeans(values: readonly number[], columns: number): number[] {
  const buckets = Math.max(0, Math.min(columns, values.length));
  return Array.from({ length: buckets }, (_, i) => {
    const from = Math.floor((i * values.length) / buckets);
    const to = Math.floor(((i + 1) * values.length) / buckets);
    return knownMean(values.slice(from, to));
  });
}

/** Mean of the known values; NaN if none is known. */
export function knownMean(values: readonly number[]): number {
  const known = values.filter((value) => !Number.isNaN(value));
  return known.reduce((sum, value) => sum + value, 0) / known.length;
}
