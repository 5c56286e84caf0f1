import { roundStep } from "./marks.ts";

/** A linear axis between two round numbers. */
export interface CurveAxis {
  min: number;
  max: number;
  ticks: number[];
}

/**
 * An axis over values: from 0 if they are near it, with two to five ticks.
 * @param values finite; none gives 0 to 1.
 * @example curveAxis([0.31, 0.94]).ticks // [0, 0.5, 1]; curveAxis([-18, -2]).ticks // [-20, -10, 0]
 */
export function curveAxis(values: Iterable<number>): CurveAxis {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low > high) return { min: 0, max: 1, ticks: [0, 0.5, 1] };
  if (low >= 0 && low <= 0.6 * high) low = 0;
  if (high <= 0 && high >= 0.6 * low) high = 0;
  if (low === high) {
    // All equal: a line in the middle, or at the bottom for 0.
    const reach = low === 0 ? 1 : Math.abs(low) / 2;
    [low, high] = low === 0 ? [0, 1] : [low - reach, high + reach];
  }
  const step = roundStep((high - low) / 3);
  const from = Math.floor(low / step + 1e-9);
  const to = Math.ceil(high / step - 1e-9);
  const ticks = Array.from({ length: to - from + 1 }, (_, i) =>
    Number(((from + i) * step).toPrecision(12)),
  );
  return { min: ticks[0] ?? 0, max: ticks.at(-1) ?? 1, ticks };
}
