import { Box } from "ink";
import type { ReactNode } from "react";
import { type Line, piece, type Style } from "../../view/styled.ts";
import type { MetricRow } from "./metric-rows.ts";
import { sparkline } from "../../view/sparkline.ts";
import { StyledLines } from "./StyledLines.tsx";

interface MetricTableProps {
  rows: readonly MetricRow[];
  /** Whether there is a row for headings. */
  headings: boolean;
  /** Headings of the curves, the longest first: the first that fits is shown. */
  curves: readonly string[];
  /** Metrics beside each other. */
  metricColumns: 1 | 2;
  columns: number;
  /** Metrics with a recent alarm. */
  alarmed: ReadonlySet<string>;
  colours: boolean;
}

const GAP = 3;
const [NOW, CHANGE] = ["now", "change"];
const STYLES: Record<MetricRow["trend"], Style> = { better: "good", worse: "bad", neutral: "dim" };

/** Metrics by row: the current value, its change over the run, and its curve. */
export function MetricTable(props: MetricTableProps): ReactNode {
  const { rows, metricColumns, columns, colours } = props;
  const width = Math.floor((columns - GAP * (metricColumns - 1)) / metricColumns);
  const perColumn = Math.ceil(rows.length / metricColumns);
  const parts = Array.from({ length: metricColumns }, (_, i) =>
    rows.slice(i * perColumn, (i + 1) * perColumn),
  );
  return (
    <Box columnGap={GAP}>
      {parts.map((part, i) => (
        <Box key={i} flexDirection="column" width={width}>
          <StyledLines lines={metricLines(part, width, props)} colours={colours} />
        </Box>
      ))}
    </Box>
  );
}

function metricLines(
  rows: readonly MetricRow[],
  width: number,
  { alarmed, headings, curves }: Pick<MetricTableProps, "alarmed" | "headings" | "curves">,
): Line[] {
  const widest = (key: "label" | "value" | "change", heading: string): number =>
    Math.max(headings ? heading.length : 0, ...rows.map((row) => row[key].length));
  const [label, value] = [widest("label", ""), widest("value", NOW) + 2];
  const change = widest("change", CHANGE) + 2;
  const rest = Math.max(0, width - label - value - change - 2);
  const curve = curves.find(({ length }) => length <= rest) ?? "";
  const head = `${" ".repeat(label)}${NOW.padStart(value)}${CHANGE.padStart(change)}  ${curve}`;
  const lines = rows.map((row): Line => {
    const rings = alarmed.has(row.metric);
    return [
      piece(row.label.padEnd(label), rings ? "bad" : "plain"),
      piece(row.value.padStart(value), rings ? "bad" : "bold"),
      piece(row.change.padStart(change), STYLES[row.trend]),
      piece("  "),
      piece(sparkline(row.values, rest, row.isShare), "tag"),
    ];
  });
  return headings && rows.length > 0 ? [[piece(head, "dim")], ...lines] : lines;
}
