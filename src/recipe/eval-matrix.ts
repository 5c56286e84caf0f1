import { mean } from "../base/statistics.ts";
import { policyLabel } from "../evaluate/policy-label.ts";
import type { EvalResult } from "./run-eval.ts";

/** Scores that a matrix shows. */
export const MATRIX_METRICS = ["em", "f1"] as const;

type Scores = Record<(typeof MATRIX_METRICS)[number], number>;

/** A policy on several datasets. */
export interface MatrixRow {
  policy: string;
  /** By the dataset's name. */
  datasets: Record<string, Scores & { n: number }>;
  /** Mean over datasets, each with the same weight, as Search-R1 averages its seven. */
  average: Scores;
}

/**
 * Results of several policies on several datasets, a row per policy.
 * @param measured.dataset its name in the matrix.
 */
export function matrixOf(
  measured: readonly { dataset: string; result: EvalResult }[],
): MatrixRow[] {
  const policies = [...new Set(measured.map(({ result }) => policyLabel(result.policy)))];
  return policies.map((policy) => {
    const own = measured.filter(({ result }) => policyLabel(result.policy) === policy);
    const datasets = Object.fromEntries(
      own.map(({ dataset, result: { n, metrics } }) => [
        dataset,
        { n, em: metrics.em, f1: metrics.f1 },
      ]),
    );
    const scores = Object.values(datasets);
    const average = { em: mean(scores.map(({ em }) => em)), f1: mean(scores.map(({ f1 }) => f1)) };
    return { policy, datasets, average };
  });
}
