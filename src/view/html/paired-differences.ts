import { fixed, formatCount } from "../../base/format.ts";
import { metricLabel } from "../../evaluate/metrics/metric-columns.ts";
import { disagreementNotes } from "../../evaluate/paired-test.ts";
import { pairedWithFirst } from "../paired-with-first.ts";
import { measured, tableCard } from "./html-table.ts";
import { type Content, note, seriesLabel, tag } from "./markup.ts";
import { differenceCell, PAIRED_NOTE } from "./run-figure-tables.ts";
import type { DrawnResult } from "./score-tables.ts";

/** Comparable results against the first one. @param across as `pairedWithFirst`. */
export async function pairedDifferences(
  results: readonly DrawnResult[],
  across: readonly string[],
): Promise<Content> {
  const found = await pairedWithFirst(
    results.map(({ readable }) => readable.files),
    across,
  );
  const [first, ...others] = results;
  if (found === null || first === undefined) return null;
  if (typeof found === "string") return note(`Not compared: ${found}`);
  return [
    tag("h3", {}, `Differences to ${first.name}`),
    tableCard({
      caption: `Differences to ${first.name}`,
      className: "plain figures-table",
      columns: [
        "result",
        { label: "questions", format: formatCount },
        { label: "mean", format: fixed(3) },
        { label: "difference", align: "right" },
      ],
      groups: found.map(({ metric, others: own }) => ({
        title: metricLabel(metric),
        rows: others.map(({ series, name }, i) => [
          seriesLabel(series, name),
          ...[own[i]?.n ?? null, measured(own[i]?.mean, fixed(3))],
          differenceCell(own[i] ?? null),
        ]),
      })),
    }),
    note(PAIRED_NOTE),
    disagreementNotes(found.flatMap((own) => own.others)).map((text) => note(text)),
  ];
}
