import { corrected, type Corrected, type PairedTest, testPairs } from "./compare/paired-test.ts";
import { type QueryScores, valuesOf } from "./retrieval-scores.ts";

/** One metric of two runs on the same queries. */
export interface MetricComparison extends PairedTest, Corrected {
  metric: string;
}

/**
 * Compares two runs metric by metric; Holm's correction is over the metrics.
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
  const tests = metrics.map((metric) => ({
    metric,
    ...testPairs(valuesOf(left, metric), valuesOf(right, metric), options),
  }));
  return corrected(tests);
}
