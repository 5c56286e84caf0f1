import { fixed } from "../../base/format.ts";
import { centralQuantile } from "../../evaluate/student-t.ts";
import type { ArmTest } from "./claim-test.ts";

/** The chance with which the detectable difference is found. */
const POWER = 0.8;

/**
 * The smallest difference that runs as many and as varied as these would have found with a chance of 80 %: the standard error times
 * t(1 − level/2) + t(.8).
 *
 * Source: minimum detectable effect, Bloom, Evaluation Review 19 (1995).
 *
 * @param level two-sided, of this one test.
 * @returns null where nothing varies or nothing is known.
 * @example detectableDifference({ total: 0.01, degrees: 2, … }, 0.05) // .01 · (4.303 + 1.061) = .0536
 */
export function detectableDifference(error: ArmTest["error"], level: number): number | null {
  if (error === null) return null;
  const { total, degrees } = error;
  return total * (centralQuantile(1 - level, degrees) + centralQuantile(2 * POWER - 1, degrees));
}

/** How a detectable difference is written: shares differ by 1 at most, so a larger one says that these runs could have found none. */
export function formatDetectable(isShare: boolean): (difference: number) => string {
  return (difference) => (isShare && difference > 1 ? "> 1" : fixed(3)(difference));
}
