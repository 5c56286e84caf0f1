const BARS = "▁▂▃▄▅▆▇█";

/**
 * Values as a line of bars, the least as the lowest and the greatest as the highest; if there are more values than columns, a bar shows the
 * mean of neighbours.
 *
 * @param values NaN: unknown, a gap.
 * @example sparkline([0, 1, 2, 3], 4) // "▁▃▆█"; with 2 columns "▁█"
 */
export function sparkline(values: readonly number[], columns: number): string {
  const means = bucketMeans(values, columns);
  const known = means.filter((value) => !Number.isNaN(value));
  const low = Math.min(...known);
  const range = Math.max(...known) - low;
  return means
    .map((value) => {
      if (Number.isNaN(value)) return " ";
      // A constant is drawn in the middle.
      const height = range === 0 ? 0.5 : (value - low) / range;
      return BARS[Math.round(height * (BARS.length - 1))] ?? "";
    })
    .join("");
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
