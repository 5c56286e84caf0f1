import type { Complex, Fraction, MathNode } from "mathjs";
import {
  MATH_LIMITS,
  type Mathjs,
  POSITIVE,
  type Work,
  evaluate,
  parseExpression,
  pointsFor,
  symbolsOf,
} from "./evaluate.ts";
import { NotMath } from "./latex.ts";

/** mathjs and the work done so far. */
export interface Comparison {
  math: Mathjs;
  work: Work;
}

type Pair = [left: Fraction | Complex, right: Fraction | Complex];

/** Whether two expressions in the language of mathjs have one value at every point where both have a finite one. */
export function equalExpressions(left: string, right: string, comparison: Comparison): boolean {
  if (left === right) return true;
  return (
    pairsOf(left, right, comparison)?.every((pair) => areClose(pair, comparison.math)) ?? false
  );
}

/** The real ratio of two expressions if it is one number at every point, else null. */
export function ratioOf(left: string, right: string, comparison: Comparison): number | null {
  const { math } = comparison;
  const pairs = pairsOf(left, right, comparison);
  if (pairs === null) return null;
  const ratios = pairs.map(([a, b]) => {
    const [over, under] = [asComplex(a, math), asComplex(b, math)];
    return math.divide(over, under) as Complex;
  });
  const [first] = ratios;
  if (first === undefined || !Number.isFinite(first.re) || first.re === 0) return null;
  const isConstant = ratios.every((ratio) => areClose([ratio, math.complex(first.re, 0)], math));
  return isConstant ? first.re : null;
}

/** The values of both at the points that count; null where there are none. */
function pairsOf(left: string, right: string, { math, work }: Comparison): Pair[] | null {
  work.operations += left.length + right.length;
  if (work.operations > MATH_LIMITS.operations) return null;
  try {
    const nodes = [parseExpression(left, math), parseExpression(right, math)] as const;
    const names = [...new Set(nodes.flatMap((node) => [...symbolsOf(node)]))];
    const pairs = pointsFor(names, math).flatMap((point, i): Pair[] => {
      const pair = pairAt(nodes, point, { math, work });
      // At negative values, logarithms and roots leave the reals, and identities of school no longer hold.
      return pair === null || (i >= POSITIVE && !pair.every(isReal)) ? [] : [pair];
    });
    return pairs.length > 0 && work.operations <= MATH_LIMITS.operations ? pairs : null;
  } catch (error) {
    if (error instanceof NotMath) return null;
    throw error;
  }
}

function pairAt(
  [left, right]: readonly [MathNode, MathNode],
  point: ReadonlyMap<string, Fraction>,
  { math, work }: Comparison,
): Pair | null {
  try {
    return [evaluate(left, point, math, work), evaluate(right, point, math, work)];
  } catch (error) {
    if (error instanceof NotMath) return null;
    throw error;
  }
}

/** Exactly for two fractions, else to 1e-9 of the larger, and to 1e-13 beside 0. */
function areClose([left, right]: Pair, math: Mathjs): boolean {
  if (math.isFraction(left) && math.isFraction(right)) return left.equals(right);
  const [a, b] = [asComplex(left, math), asComplex(right, math)];
  const size = Math.max(Math.hypot(a.re, a.im), Math.hypot(b.re, b.im));
  return Math.hypot(a.re - b.re, a.im - b.im) <= Math.max(1e-9 * size, 1e-13);
}

function isReal(value: Fraction | Complex): boolean {
  return !("im" in value) || Math.abs(value.im) <= 1e-9 * Math.abs(value.re);
}

function asComplex(value: Fraction | Complex, math: Mathjs): Complex {
  return math.isComplex(value) ? value : math.complex(value.valueOf(), 0);
}
