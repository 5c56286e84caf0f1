import { holmAdjusted, pairedPermutationTest, type PermutationResult } from "./permutation-test.ts";
import { type QueryScores, valuesOf } from "./retrieval-scores.ts";
import { type Interval, mean, pairedBootstrap } from "./statistics.ts";

/** One metric of two runs on the same queries. */
export interface MetricComparison {
  metric: string;
  left: number;
  right: number;
  /** Left minus right. */
  difference: number;
  /** 95 % bootstrap interval of the difference, queries resampled in pairs. */
  ci95: Interval;
  /** Two-sided p of the paired permutation test. */
  p: number;
  /** The same after Holm's correction over the metrics compared. */
  pHolm: number;
  method: PermutationResult["method"];
  /** By `pHolm` below .05. "no difference shown" does not say that the two are equal. */
  verdict: "higher" | "lower" | "no difference shown";
}

/** Chance of even one false alarm among the metrics that a verdict takes. */
const LEVEL = 0.05;

/**
 * Compares two runs metric by metric.
 *
 * @param left of each query, in the same order as `right`.
 * @param options.seed of bootstrap and permutations.
 * @param options.draws permutations drawn where there are too many for all; 10 000 by default.
 */
export function compareRetrieval(
  left: readonly QueryScores[],
  right: readonly QueryScores[],
  metrics: readonly string[],
  options: { seed: number; draws?: number },
): MetricComparison[] {
  const compared = metrics.map((metric) => {
    const [a, b] = [valuesOf(left, metric), valuesOf(right, metric)];
    const differences = a.map((value, i) => value - (b[i] ?? Number.NaN));
    return {
      metric,
      left: mean(a),
      right: mean(b),
      ...pairedBootstrap(a, b, { seed: options.seed }),
      ...pairedPermutationTest(differences, options),
    };
  });
  const adjusted = holmAdjusted(compared.map(({ p }) => p));
  return compared.map((comparison, i) => {
    const pHolm = adjusted[i] ?? 1;
    return { ...comparison, pHolm, verdict: verdictOf(comparison.difference, pHolm) };
  });
}

function verdictOf(difference: number, pHolm: number): MetricComparison["verdict"] {
  if (pHolm >= LEVEL) return "no difference shown";
  return difference > 0 ? "higher" : "lower";
}
