import { type Interval, wilsonInterval } from "../statistics.ts";

/** A share of cases, and how sure it is. */
export interface Share {
  count: number;
  n: number;
  /** null of no cases. */
  rate: number | null;
  /** Wilson's 95 % interval; null of no cases. */
  ci95: Interval | null;
}

/** @example share(9, 10) // { count: 9, n: 10, rate: 0.9, ci95: [0.596, 0.982] } */
export function share(count: number, n: number): Share {
  if (n === 0) return { count, n, rate: null, ci95: null };
  return { count, n, rate: count / n, ci95: wilsonInterval(count, n) };
}

/** The share of those that hold. */
export function shareOf(values: readonly boolean[]): Share {
  return share(values.filter(Boolean).length, values.length);
}
