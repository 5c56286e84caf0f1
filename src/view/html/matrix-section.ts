import { fixed, formatInterval, orAbsent, plural } from "../../base/format.ts";
import { AVERAGE_NOTE, type MatrixRow } from "../score-matrix.ts";
import { small, tableCard } from "./html-table.ts";
import { type Content, note, seriesLabel, tag } from "./markup.ts";
import type { ReportSection } from "./report-page.ts";

const share = fixed(3);

/** Policies × datasets, large: EM, under it F1, the interval and the number of questions. */
export function matrixSection(rows: readonly MatrixRow[]): ReportSection {
  const datasets = [...new Set(rows.flatMap((row) => Object.keys(row.datasets)))];
  const table = tableCard({
    caption: "EM of every policy on every dataset",
    className: "matrix",
    columns: ["policy", ...datasets, "average"],
    rows: rows.map(({ policy, datasets: of, average }, series) => [
      seriesLabel(series, policy),
      ...datasets.map((name) => cell(of[name])),
      [large(average.em), small(`F1 ${orAbsent(average.f1, share)}`)],
    ]),
  });
  return {
    id: "matrix",
    title: "Policies on datasets",
    note: "EM, small: 95 % interval and F1",
    content: [table, note(AVERAGE_NOTE)],
  };
}

function cell(scores: MatrixRow["datasets"][string] | undefined): Content {
  if (scores === undefined) return null;
  const { em, f1, n, emInterval } = scores;
  return [
    large(em),
    emInterval !== null && small(formatInterval(emInterval, share)),
    small(`F1 ${orAbsent(f1, share)} · ${plural(n, "question")}`),
  ];
}

function large(value: number | null): Content {
  return tag("b", {}, orAbsent(value, share));
}
