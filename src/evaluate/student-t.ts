/** Student's t distribution, to about twelve digits; degrees of freedom need not be whole (Welch). */

/** Probability of a value at least as far from 0 as `t`, on both sides. @example twoSidedP(2.7764451051977934, 4) // 0.05 */
export function twoSidedP(t: number, degrees: number): number {
  if (Number.isNaN(t)) return Number.NaN;
  if (!Number.isFinite(t)) return 0;
  return regularizedBeta(degrees / (degrees + t * t), degrees / 2, 0.5);
}

/** The value within which, on both sides of 0, a share of the distribution lies. @example centralQuantile(0.95, 2) // 4.302652729749464 */
export function centralQuantile(share: number, degrees: number): number {
  const outside = 1 - share;
  let high = 1;
  while (twoSidedP(high, degrees) > outside) high *= 2;
  let low = 0;
  // Bisection until no number lies between: the probability falls as t grows.
  for (;;) {
    const middle = (low + high) / 2;
    if (middle <= low || middle >= high) return middle;
    if (twoSidedP(middle, degrees) > outside) low = middle;
    else high = middle;
  }
}

/** Regularised incomplete beta function Iₓ(a, b), for x from 0 to 1. */
export function regularizedBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  // The fraction converges fast on one side of the mean; on the other the symmetry Iₓ(a, b) = 1 − I₁₋ₓ(b, a) helps.
  if (x > (a + 1) / (a + b + 2)) return 1 - regularizedBeta(1 - x, b, a);
  const logFactor =
    logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x);
  return Math.exp(logFactor) / (a * betaFraction(x, a, b));
}

/** The continued fraction 1 + d₁/(1 + d₂/(1 + …)) of the incomplete beta function, by Lentz's method (DLMF 8.17.22). */
function betaFraction(x: number, a: number, b: number): number {
  let value = 1;
  let numerator = 1;
  let denominator = 0;
  for (let i = 1; i <= 1000; i++) {
    const m = Math.floor(i / 2);
    const d =
      i % 2 === 0
        ? (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m))
        : (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    denominator = 1 / awayFromZero(1 + d * denominator);
    numerator = awayFromZero(1 + d / numerator);
    const factor = numerator * denominator;
    value *= factor;
    if (Math.abs(factor - 1) < 1e-15) break;
  }
  return value;
}

function awayFromZero(value: number): number {
  return Math.abs(value) < 1e-300 ? 1e-300 : value;
}

/** ln Γ(x) for x above 0: Stirling's series (DLMF 5.11.1), after moving x up to where six terms give 1e-15. */
function logGamma(x: number): number {
  let shift = 0;
  let at = x;
  while (at < 16) {
    shift += Math.log(at);
    at += 1;
  }
  const square = at * at;
  const series =
    (1 / 12 -
      (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / (1188 * square)) / square) / square) / square) /
    at;
  return (at - 0.5) * Math.log(at) - at + 0.5 * Math.log(2 * Math.PI) + series - shift;
}
