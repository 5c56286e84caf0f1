import { sampleVariance } from "../statistics.ts";
import { centralQuantile } from "../student-t.ts";

/**
 * Cohen's d of paired values: the mean difference in units of the differences' own deviation (n − 1), called dz. Null where
 * there is no deviation to measure by.
 *
 * Source: Cohen, Statistical Power Analysis (1988), section 2.3.5.
 *
 * @example pairedEffect([1, 0, 1, 0]) // mean .5, deviation .5774: 0.866
 */
export function pairedEffect(differences: readonly number[]): number | null {
  const deviation = Math.sqrt(sampleVariance(differences));
  if (!(deviation > 0)) return null;
  return differences.reduce((sum, value) => sum + value, 0) / differences.length / deviation;
}

/**
 * Cohen's h: the distance of two shares as angles, so that .01 beside .05 is as far as .45 beside .55. About .2 is small, .5
 * medium, .8 large. It takes the two shares as they are and knows nothing of pairs.
 *
 * Source: Cohen (1988), section 6.2.
 *
 * @example shareEffect(0.5, 0.25) // 2 asin √.5 − 2 asin √.25 = 1.5708 − 1.0472
 */
export function shareEffect(left: number, right: number): number {
  return 2 * Math.asin(Math.sqrt(left)) - 2 * Math.asin(Math.sqrt(right));
}

/**
 * The smallest true difference that a two-sided test at level .05 would find with a probability of .8, given the standard
 * error of the difference: (t of .975 + t of .8) · error. What lies below it can be real and still not be seen here.
 *
 * Source: Bloom, Evaluation Review 19 (1995), for the sum of two quantiles in place of the noncentral t distribution: within
 * 1 % of it from ten questions on.
 *
 * @param standardError of the difference.
 * @param degrees questions less one; at least 1.
 * @example smallestDetectable(0.01, 499) // (1.9647 + 0.8425) · .01 = 0.0281
 */
export function smallestDetectable(standardError: number, degrees: number): number {
  // Of a share of .6 around the middle, .2 lie above.
  return (centralQuantile(0.95, degrees) + centralQuantile(0.6, degrees)) * standardError;
}
