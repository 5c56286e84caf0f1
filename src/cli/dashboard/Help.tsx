import type { ReactNode } from "react";
import { type Line, piece } from "../../view/styled.ts";
import { KEYS } from "./Footer.tsx";
import type { MetricRow } from "./metric-rows.ts";
import { StyledLines } from "./StyledLines.tsx";

const CHANGE_MEANS =
  "change: mean of the last five steps less the first five's; under ten: by halves";

/** Explains keys and the metrics that the run has. */
export function Help(props: {
  metrics: readonly MetricRow[];
  rows: number;
  colours: boolean;
}): ReactNode {
  const { metrics, rows, colours } = props;
  const widest = Math.max(...metrics.map(({ label }) => label.length));
  const lines: Line[] = [
    ...KEYS.map(({ key, means }): Line => [piece(key.padEnd(8), "bold"), piece(means)]),
    [],
    // Before the metrics, the last of which a small terminal leaves out.
    ...(metrics.length === 0 ? [] : [[piece(CHANGE_MEANS, "dim")]]),
    ...metrics.map(({ label, means }): Line => [
      piece(label.padEnd(widest + 2), "bold"),
      piece(means),
    ]),
  ];
  const whole = lines.filter((line) => lines.length <= rows || line.length > 0);
  return <StyledLines lines={whole.slice(0, rows)} colours={colours} />;
}
