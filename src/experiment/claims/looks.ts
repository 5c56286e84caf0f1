import { centralQuantile, twoSidedP } from "../../evaluate/student-t.ts";
import { type ArmTest, LEVEL } from "./claim-test.ts";

/** The seeds of every arm, when the runs are looked at, and how sure a look must be to decide a claim. */
export interface SeedPlan {
  seeds: readonly number[];
  /** Number of seeds at each look, rising; the last has all. */
  looks: readonly number[];
  /** Level of each look's tests, two-sided. */
  level: number;
}

/**
 * Seeds by rule: three, and for a claim that is still open five, then eight. Each look has a third of the level, so that all looks together
 * decide a claim without an effect in at most 5 % of the cases, whatever the data and whenever the rule stops.
 *
 * Source: Pocock, Biometrika 64 (1977), equal levels at all looks. Different here: the levels add up to 5 % (Bonferroni) instead of being
 * computed for a normal distribution, from which three seeds are far; Holm's correction over claims then stays valid. Simulated in
 * test/experiment/claims/looks.test.ts; figures in docs/reproducing.md.
 */
export const SEEDS_BY_RULE: SeedPlan = planOf([1, 2, 3, 4, 5, 6, 7, 8], [3, 5, 8]);

/** Seeds that are fixed beforehand: one look with the whole level. */
export function fixedSeeds(seeds: readonly number[]): SeedPlan {
  return planOf(seeds, [seeds.length]);
}

function planOf(seeds: readonly number[], looks: readonly number[]): SeedPlan {
  return { seeds, looks, level: LEVEL / looks.length };
}

/** Below this chance of an answer, further seeds are not worth their time. */
export const LEAST_CHANCE = 0.2;

/** What a comparison measured with some seeds. */
export interface Evidence extends Pick<ArmTest, "difference" | "errors"> {
  /** What the difference is tested against; 0 when absent. */
  margin?: number;
  seeds: number;
}

type Looks = Pick<SeedPlan, "looks" | "level">;

/** Whether the last look will answer with a chance that is worth further seeds. */
export function isPromising(evidence: Evidence, plan: Looks): boolean {
  return chanceOfAnswer(evidence, plan) >= LEAST_CHANCE;
}

/**
 * The chance that the last look's test finds a difference, either way, if the spread stays as it is: the mean of the seeds to come lies
 * around the measured one, as a t distribution says. The error over questions stays, because more seeds are no more questions.
 *
 * Source: predictive power with a flat prior, Spiegelhalter, Freedman and Blackburn, Controlled Clinical Trials 7 (1986); t instead of normal.
 *
 * @example chanceOfAnswer({ difference: 0, errors: { seeds: 0.1, questions: null }, seeds: 3 }, SEEDS_BY_RULE) // 0.13
 */
export function chanceOfAnswer(
  { difference: measured, margin = 0, errors, seeds }: Evidence,
  plan: Looks,
): number {
  const difference = measured - margin;
  const last = plan.looks.at(-1) ?? seeds;
  const more = last - seeds;
  if (more <= 0 || errors.seeds === null) return 0;
  const bySeeds = errors.seeds * Math.sqrt(seeds / last) * quantile(plan.level, last - 1);
  const byQuestions =
    errors.questions === null
      ? 0
      : errors.questions.error * quantile(plan.level, errors.questions.degrees);
  const needed = Math.max(bySeeds, byQuestions);
  // Deviation of the last look's mean around today's.
  const spread = errors.seeds * Math.sqrt(more / last);
  if (spread === 0) return Math.abs(difference) > needed ? 1 : 0;
  const above = (distance: number): number => {
    const tail = twoSidedP(distance / spread, seeds - 1) / 2;
    return distance > 0 ? tail : 1 - tail;
  };
  return above(needed - difference) + above(needed + difference);
}

function quantile(level: number, degrees: number): number {
  return centralQuantile(1 - level, degrees);
}
