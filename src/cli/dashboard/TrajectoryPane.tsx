import type { ReactNode } from "react";
import type { Segment, Trajectory } from "../../trajectory/trajectory.ts";
import { type Line, type Piece, piece, widthOf } from "../../view/styled.ts";
import { LEAST_TRAJECTORY } from "./layout.ts";
import type { Batch } from "./run-view.ts";
import { StyledLines } from "./StyledLines.tsx";
import { outcomePieces, paneLines } from "./trajectory-pane.ts";

interface TrajectoryPaneProps {
  batch: Batch;
  /** Any whole number, modulo the number of rollouts. */
  index: number;
  columns: number;
  rows: number;
  colours: boolean;
  textOf: (segment: Segment) => string | null;
}

const WIDE = 100;

/** Rollouts of the latest step, as many as fit, from one on: outcome and text by owner. */
export function TrajectoryPane(props: TrajectoryPaneProps): ReactNode {
  const { batch, index, columns, rows, colours, textOf } = props;
  const { trajectories } = batch;
  const start = index % Math.max(1, trajectories.length);
  const lines: Line[] = [];
  for (const trajectory of [...trajectories.slice(start), ...trajectories.slice(0, start)]) {
    const gap = lines.length === 0 ? [] : [[]];
    const left = rows - lines.length - gap.length;
    if (left < LEAST_TRAJECTORY) break;
    const size = { columns, rows: left - 1, plain: !colours };
    const text = paneLines(trajectory, size, textOf);
    lines.push(...gap, heading(trajectory, batch, columns), ...text);
  }
  return <StyledLines lines={lines} colours={colours} />;
}

function heading(trajectory: Trajectory, { step, size }: Batch, columns: number): Line {
  // A narrow terminal shows only the outcome; the id contains the step.
  const of = columns < WIDE ? "" : ` of step ${step}'s ${size}`;
  const line: Piece[] = [
    piece("── ", "dim"),
    piece(`rollout ${trajectory.id}`, "bold"),
    piece(`${of} · `, "dim"),
    ...outcomePieces(trajectory),
    piece(" ", "dim"),
  ];
  return [...line, piece("─".repeat(Math.max(0, columns - widthOf(line))), "dim")];
}
