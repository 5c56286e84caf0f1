import { join } from "node:path";
import { AgentrlError, errorMessage } from "../base/errors.ts";
import type { Interval } from "../evaluate/statistics.ts";
import { compareRuns } from "../experiment/compare/compare-runs.ts";
import type { MetricResult } from "../experiment/compare/compare-sides.ts";
import type { Side } from "../experiment/compare/compared-run.ts";
import { UNLIKE_ADVICE } from "../experiment/compare/protocol-differences.ts";
import { readComparedRun } from "../experiment/compare/read-compared-run.ts";
import type { ResultFiles } from "./results-files.ts";

/** A difference on the same questions. */
export interface PairedDifference {
  difference: number;
  ci95: Interval;
  /** Shared measured questions. */
  n: number;
  /** p after Holm's correction over all shown tests. */
  p: number;
  verdict: MetricResult["verdict"];
}

/** A metric of every result but the first, with its difference to the first. */
export interface PairedMetric {
  metric: string;
  /** In the order of the results. */
  others: (PairedDifference & { mean: number })[];
}

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
  return orWhyNot(async () => {
    const sides = results.map(async ({ name, folder }) => ({
      name,
      runs: [await readComparedRun(join(folder, "rows.jsonl"))],
    }));
    const comparisons = againstFirst(await Promise.all(sides), across);
    return (comparisons[0]?.metrics ?? []).map(({ metric }, i) => ({
      metric,
      others: comparisons.flatMap(({ metrics }) => {
        const own = metrics[i];
        return own === undefined ? [] : [secondMinusFirst(own)];
      }),
    }));
  });
}

/** The first side minus each other one. The seed is fixed, so that a report depends only on the results. */
export function againstFirst(sides: readonly Side[], across: readonly string[] = []) {
  return compareRuns(sides, { across, seed: 0 }).comparisons;
}

/** What was made, or a sentence that says why it cannot be. */
export async function orWhyNot<T>(make: () => T | Promise<T>): Promise<T | string> {
  try {
    return await make();
  } catch (error) {
    if (!(error instanceof AgentrlError)) throw error;
    return errorMessage(error).split(`\n${UNLIKE_ADVICE}`)[0] ?? "";
  }
}

export function paired({ difference, ci95, n, pHolm: p, verdict }: MetricResult): PairedDifference {
  return { difference, ci95, n, p, verdict };
}

const REVERSED: Record<PairedDifference["verdict"], PairedDifference["verdict"]> = {
  higher: "lower",
  lower: "higher",
  "no difference shown": "no difference shown",
};

function secondMinusFirst(found: MetricResult): PairedMetric["others"][number] {
  const [low, high] = found.ci95;
  return {
    ...paired(found),
    mean: found.right,
    // 0 − 0 is 0; −0 would be written with a sign.
    difference: 0 - found.difference,
    ci95: [0 - high, 0 - low],
    verdict: REVERSED[found.verdict],
  };
}
