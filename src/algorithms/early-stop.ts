/** A measurement of held-out data on the way. */
export interface Check {
  /** Optimiser steps before it; 0: of what training started from. */
  step: number;
  value: number;
}

/** When training has done enough. */
export interface StoppingRule {
  better: "lower" | "higher";
  /** Checks in a row without an improvement after which training stops; null: never. */
  patience: number | null;
  /** Least difference to the last improvement that is one. */
  minImprovement: number;
}

/** The best check of what was trained, the first of equals; undefined where nothing was. */
export function bestCheck(
  checks: readonly Check[],
  better: StoppingRule["better"],
): Check | undefined {
  const sign = better === "lower" ? -1 : 1;
  return checks
    .filter(({ step, value }) => step > 0 && !Number.isNaN(value))
    .reduce<Check | undefined>(
      (best, each) => (best === undefined || sign * each.value > sign * best.value ? each : best),
      undefined,
    );
}

/**
 * Whether the checks so far say to stop. A check improves when it is better than the last that did by more than `minImprovement`; the
 * start is what the first is compared with.
 *
 * @example outOfPatience([{ step: 0, value: 3 }, { step: 5, value: 2 }, { step: 10, value: 2 }], rule) // true: lower, patience 1
 */
export function outOfPatience(
  checks: readonly Check[],
  { better, patience, minImprovement }: StoppingRule,
): boolean {
  if (patience === null) return false;
  const sign = better === "lower" ? -1 : 1;
  let reached: number | null = null;
  let waited = 0;
  for (const { value } of checks) {
    if (reached === null || sign * (value - reached) > minImprovement) {
      reached = value;
      waited = 0;
    } else waited += 1;
  }
  return waited >= patience;
}
