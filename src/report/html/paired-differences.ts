import { join } from "node:path";
import { AgentrlError, errorMessage } from "../../base/errors.ts";
import { fixed } from "../../base/format.ts";
import { compareRuns } from "../../evaluate/compare/compare-runs.ts";
import type { MetricResult } from "../../evaluate/compare/compare-sides.ts";
import { UNLIKE_ADVICE } from "../../evaluate/compare/protocol-differences.ts";
import { readComparedRun } from "../../evaluate/compare/read-compared-run.ts";
import { metricLabel } from "../../evaluate/metrics/metric-columns.ts";
import { disagreementNotes } from "../../evaluate/paired-test.ts";
import type { PairedDifference } from "../runs/held-out-comparison.ts";
import { measured, tableCard } from "./html-table.ts";
import { type Content, note, seriesLabel } from "./markup.ts";
import { differenceCell, PAIRED_NOTE } from "./run-figure-tables.ts";
import type { DrawnResult } from "./score-tables.ts";

/** A fixed seed, so that the page depends only on the results. */
const SEED = 0;

/**
 * Comparable results against the first one, question by question.
 * @param across parts of the protocol in which they may differ.
 */
export async function pairedDifferences(
  results: readonly DrawnResult[],
  across: readonly string[],
): Promise<Content> {
  const [first, ...others] = results;
  const places = results.map(({ readable }) => join(readable.files.folder, "rows.jsonl"));
  if (first === undefined || others.length === 0) return null;
  if (!results.every(({ readable }) => readable.files.hasRows)) return null;
  try {
    const sides = await Promise.all(
      places.map(async (place, i) => ({
        name: results[i]?.name ?? place,
        runs: [await readComparedRun(place)],
      })),
    );
    const { comparisons } = compareRuns(sides, { across, seed: SEED });
    const shown = comparisons.map(({ metrics }) => metrics.map(secondMinusFirst));
    const metrics = comparisons[0]?.metrics ?? [];
    return [
      tableCard({
        caption: `Differences to ${first.name}`,
        isTitled: true,
        className: "plain figures-table",
        columns: [
          "",
          { label: "mean", format: fixed(3) },
          { label: `minus ${first.name}`, align: "right" },
        ],
        groups: metrics.map(({ metric }, at) => ({
          title: metricLabel(metric),
          rows: others.map(({ series, name }, i) => [
            seriesLabel(series, name),
            measured(comparisons[i]?.metrics[at]?.right, fixed(3)),
            differenceCell(shown[i]?.[at] ?? null),
          ]),
        })),
      }),
      note(PAIRED_NOTE),
      disagreementNotes(shown.flat()).map((text) => note(text)),
    ];
  } catch (error) {
    if (!(error instanceof AgentrlError)) throw error;
    return note(`Not compared: ${errorMessage(error).split(`\n${UNLIKE_ADVICE}`)[0] ?? ""}`);
  }
}

const REVERSED = {
  ...{ higher: "lower", lower: "higher" },
  "no difference shown": "no difference shown",
} as const;

function secondMinusFirst({ difference, ci95, n, pHolm, verdict }: MetricResult): PairedDifference {
  const [low, high] = ci95;
  // 0 − 0 is 0; −0 would be written with a sign.
  return {
    ...{ difference: 0 - difference, ci95: [0 - high, 0 - low], n, p: pHolm },
    verdict: REVERSED[verdict],
  };
}
