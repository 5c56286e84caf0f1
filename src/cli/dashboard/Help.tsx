import type { ReactNode } from "react";
import { type Line, piece } from "../trace/styled.ts";
import { KEYS } from "./Footer.tsx";
import { SHOWN_METRICS } from "./metric-rows.ts";
import { StyledLines } from "./StyledLines.tsx";

/** Explains keys and metrics. */
export function Help(props: { rows: number; colours: boolean }): ReactNode {
  const { rows, colours } = props;
  const lines: Line[] = [
    ...KEYS.map(({ key, means }): Line => [piece(key.padEnd(8), "bold"), piece(means)]),
    [],
    ...SHOWN_METRICS.map(({ label, means }): Line => [
      piece(label.padEnd(13), "bold"),
      piece(means),
    ]),
    [],
    [
      piece(
        "change: mean of the last five steps less the first five's; under ten: by halves",
        "dim",
      ),
    ],
  ];
  const whole = lines.filter((line) => lines.length <= rows || line.length > 0);
  return <StyledLines lines={whole.slice(0, rows)} colours={colours} />;
}
