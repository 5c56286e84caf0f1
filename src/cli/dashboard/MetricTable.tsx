import { Box } from "ink";
import type { ReactNode } from "react";
import { type Line, piece, type Style } from "../trace/styled.ts";
import type { MetricRow } from "./metric-rows.ts";
import { sparkline } from "./sparkline.ts";
import { StyledLines } from "./StyledLines.tsx";

interface MetricTableProps {
  rows: readonly MetricRow[];
  /** Metrics beside each other. */
  metricColumns: 1 | 2;
  columns: number;
  /** Metrics with a recent alarm. */
  alarmed: ReadonlySet<string>;
  colours: boolean;
}

const GAP = 3;
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
          <StyledLines lines={metricLines(part, width, props.alarmed)} colours={colours} />
        </Box>
      ))}
    </Box>
  );
}

function metricLines(
  rows: readonly MetricRow[],
  width: number,
  alarmed: MetricTableProps["alarmed"],
): Line[] {
  const widest = (key: "label" | "value" | "change"): number =>
    Math.max(...rows.map((row) => row[key].length));
  const [label, value, change] = [widest("label"), widest("value") + 2, widest("change") + 2];
  const rest = Math.max(0, width - label - value - change - 2);
  return rows.map((row) => {
    const rings = alarmed.has(row.metric);
    return [
      piece(row.label.padEnd(label), rings ? "bad" : "plain"),
      piece(row.value.padStart(value), rings ? "bad" : "bold"),
      piece(row.change.padStart(change), STYLES[row.trend]),
      piece("  "),
      piece(sparkline(row.values, rest), "tag"),
    ];
  });
}
