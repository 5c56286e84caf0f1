import { fixed } from "../../base/format.ts";
import { centralQuantile } from "../../evaluate/student-t.ts";
import type { ArmTest } from "./claim-test.ts";

/** The chance with which the detectable difference is found. */
const POWER = 0.8;

/**
 * The smallest difference that runs as many and as varied as these would have found with a chance of 80 %: the standard error times
 * t(1 − level/2) + t(.8). Over seeds and over questions must both find it, so the larger one counts.
 *
 * Source: minimum detectable effect, Bloom, Evaluation Review 19 (1995).
 *
 * @param level two-sided, of this one test.
 * @returns null where nothing varies or nothing is known.
 * @example detectableDifference({ seeds: 0.01, questions: null }, 3, 0.05) // .01 · (4.303 + 1.061) = .0536
 */
export function detectableDifference(
  errors: ArmTest["errors"],
  seeds: number,
  level: number,
): number | null {
  const least = (error: number, degrees: number): number =>
    error * (centralQuantile(1 - level, degrees) + centralQuantile(2 * POWER - 1, degrees));
  if (seeds < 2) return null;
  const found = [
    ...(errors.seeds === null ? [] : [least(errors.seeds, seeds - 1)]),
    ...(errors.questions === null ? [] : [least(errors.questions.error, errors.questions.degrees)]),
  ];
  return found.length === 0 ? null : Math.max(...found);
}

/** How a detectable difference is written: shares differ by 1 at most, so a larger one says that these runs could have found none. */
export function formatDetectable(isShare: boolean): (difference: number) => string {
  return (difference) => (isShare && difference > 1 ? "> 1" : fixed(3)(difference));
}
