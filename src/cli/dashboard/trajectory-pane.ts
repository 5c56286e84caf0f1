import type { Segment, Trajectory } from "../../trajectory/trajectory.ts";
import { searchCount } from "../../trajectory/search-count.ts";
import { type Line, piece, type Piece } from "../../view/styled.ts";
import { trajectoryLines } from "../trace/trajectory-lines.ts";

/** Space for a trajectory. */
export interface PaneSize {
  columns: number;
  rows: number;
  /** Without colours: every line starts with its owner. */
  plain: boolean;
}

/** Lines of a prompt or an observation, from the most to the fewest. */
const SHORTENED = [12, 6, 3, 1];

/**
 * A trajectory in a number of rows: prompts and observations are shortened first; then the middle is left out, because the question is at
 * the start and the answer at the end.
 */
export function paneLines(
  trajectory: Trajectory,
  { columns, rows, plain }: PaneSize,
  textOf: (segment: Segment) => string | null,
): Line[] {
  let lines: Line[] = [];
  for (const shortenTo of SHORTENED) {
    const all = trajectoryLines(trajectory, { columns, plain, shortenTo, textOf, live: true });
    lines = all.filter((line) => line.length > 0);
    if (lines.length <= rows) return all.length <= rows ? all : lines;
  }
  const first = Math.min(Math.ceil((rows - 1) / 2), 4);
  const last = rows - 1 - first;
  const hidden = lines.length - first - last;
  return [
    ...lines.slice(0, first),
    [piece(`… ${hidden} more lines`, "note")],
    ...lines.slice(lines.length - last),
  ];
}

/** Outcome of a trajectory, for its heading. */
export function outcomePieces(trajectory: Trajectory): Piece[] {
  const { end, answer, reward } = trajectory;
  const searches = searchCount(trajectory);
  return [
    piece(end, end === "answered" ? "plain" : "note"),
    ...(answer === null ? [] : [piece(` “${answer.trim()}”`, "bold")]),
    piece(` · ${searches} ${searches === 1 ? "search" : "searches"}`, "dim"),
    ...(reward === null
      ? []
      : [
          piece(" · reward ", "dim"),
          piece(String(Number(reward.toFixed(3))), reward > 0 ? "good" : "plain"),
        ]),
  ];
}
