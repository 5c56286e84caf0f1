import { join } from "node:path";
import { AgentrlError, errorMessage } from "../base/errors.ts";
import { compareRuns } from "../experiment/compare/compare-runs.ts";
import type { MetricResult } from "../experiment/compare/compare-sides.ts";
import { UNLIKE_ADVICE } from "../experiment/compare/protocol-differences.ts";
import { readComparedRun } from "../experiment/compare/read-compared-run.ts";
import type { Interval } from "../evaluate/statistics.ts";
import type { ResultFiles } from "./results-files.ts";
import type { PairedDifference } from "./runs/held-out-comparison.ts";

/** A metric of every result but the first, with its difference to the first. */
export interface PairedMetric {
  metric: string;
  /** In the order of the results. */
  others: (PairedDifference & { mean: number })[];
}

/** A fixed seed, so that a report depends only on the results. */
const SEED = 0;

/**
 * Comparable results against the first one, question by question.
 * @param across parts of the protocol in which they may differ.
 * @returns a sentence if they cannot be compared; null for one result, or without rows.
 */
export async function pairedWithFirst(
  results: readonly ResultFiles[],
  across: readonly string[],
): Promise<PairedMetric[] | string | null> {
  if (results.length < 2 || !results.every(({ hasRows }) => hasRows)) return null;
  try {
    const sides = await Promise.all(
      results.map(async ({ name, folder }) => ({
        name,
        runs: [await readComparedRun(join(folder, "rows.jsonl"))],
      })),
    );
    const { comparisons } = compareRuns(sides, { across, seed: SEED });
    return (comparisons[0]?.metrics ?? []).map(({ metric }, i) => ({
      metric,
      others: comparisons.flatMap(({ metrics }) => {
        const own = metrics[i];
        return own === undefined ? [] : [secondMinusFirst(own)];
      }),
    }));
  } catch (error) {
    if (!(error instanceof AgentrlError)) throw error;
    return errorMessage(error).split(`\n${UNLIKE_ADVICE}`)[0] ?? "";
  }
}

const REVERSED: Record<PairedDifference["verdict"], PairedDifference["verdict"]> = {
  higher: "lower",
  lower: "higher",
  "no difference shown": "no difference shown",
};

function secondMinusFirst(found: MetricResult): PairedMetric["others"][number] {
  const { right: mean, difference, ci95, n, pHolm: p, verdict } = found;
  const [low, high] = ci95;
  // 0 − 0 is 0; −0 would be written with a sign.
  const turned = { difference: 0 - difference, ci95: [0 - high, 0 - low] satisfies Interval };
  return { mean, n, p, ...turned, verdict: REVERSED[verdict] };
}
