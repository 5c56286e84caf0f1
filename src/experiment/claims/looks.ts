import { LEVEL } from "./claim-test.ts";

/** The seeds of every arm, when the runs are looked at, and how sure a look must be to decide a claim. */
export interface SeedPlan {
  seeds: readonly number[];
  /** Number of seeds at each look, rising; the last has all. */
  looks: readonly number[];
  /** Level of each look's tests, two-sided. */
  levels: readonly number[];
}

/**
 * Seeds by rule: three, and for a claim that is still undecided five, then eight. The levels of the looks add up to .05, so that all looks
 * together decide a claim without an effect in at most 5 % of the cases, whatever the data. Most of the level is left for the last look,
 * which has most of the seeds.
 *
 * Source: rising levels: O'Brien and Fleming, Biometrics 35 (1979). Different here: the levels add up to 5 % (Bonferroni) instead of being
 * computed for a normal distribution, from which three seeds are far; Holm's correction over claims then stays valid. Simulated in
 * test/experiment/claims/procedure.test.ts; figures in docs/claims.md.
 */
export const SEEDS_BY_RULE: SeedPlan = {
  seeds: [1, 2, 3, 4, 5, 6, 7, 8],
  looks: [3, 5, 8],
  levels: [0.005, 0.01, 0.035],
};

/** Seeds that are fixed beforehand: one look with the whole level. An exploration, which the atlas does not show. */
export function fixedSeeds(seeds: readonly number[]): SeedPlan {
  return { seeds, looks: [seeds.length], levels: [LEVEL] };
}
