import type { ReactNode } from "react";
import type { Segment, Trajectory } from "../../trajectory/trajectory.ts";
import { type Line, type Piece, piece, widthOf } from "../trace/styled.ts";
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

/** A rollout of the latest step: its outcome and its text by owner. */
export function TrajectoryPane(props: TrajectoryPaneProps): ReactNode {
  const { batch, index, columns, rows, colours, textOf } = props;
  const number = index % Math.max(1, batch.trajectories.length);
  const trajectory = batch.trajectories[number];
  if (trajectory === undefined) return null;
  const size = { columns, rows: rows - 1, plain: !colours };
  const lines = [heading(trajectory, batch, columns), ...paneLines(trajectory, size, textOf)];
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
