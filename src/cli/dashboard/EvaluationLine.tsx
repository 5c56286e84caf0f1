import type { ReactNode } from "react";
import { type Line, piece, widthOf } from "../trace/styled.ts";
import { signedShare } from "./metric-rows.ts";
import type { EvaluationPoint } from "./run-view.ts";
import { StyledLines } from "./StyledLines.tsx";

interface EvaluationLineProps {
  evaluations: readonly EvaluationPoint[];
  columns: number;
  colours: boolean;
}

/** Exact match on held-out questions so far: the first, as many of the latest as fit, and the best. */
export function EvaluationLine({ evaluations, columns, colours }: EvaluationLineProps): ReactNode {
  return <StyledLines lines={[fittingLine(evaluations, columns)]} colours={colours} />;
}

function fittingLine(evaluations: readonly EvaluationPoint[], columns: number): Line {
  const [first, ...later] = evaluations;
  if (first === undefined) return [];
  for (let kept = later.length; kept >= 1; kept--) {
    const shown = [first, ...later.slice(later.length - kept)];
    const line = [...wayLine(shown, later.length - kept), ...outcome(evaluations)];
    if (widthOf(line) <= columns) return line;
  }
  return wayLine([first, ...later.slice(-1)], later.length - 1);
}

/** @param hidden evaluations between the first and the second that is shown. */
function wayLine(shown: readonly EvaluationPoint[], hidden: number): Line {
  return [
    piece("held-out EM"),
    ...shown.flatMap(({ name, em }, i) => {
      const between = i === 0 ? " " : i === 1 && hidden > 0 ? " → … → " : " → ";
      return [piece(`${between}${name} `, "dim"), piece(em.toFixed(3), "bold")];
    }),
  ];
}

function outcome(all: readonly EvaluationPoint[]): Line {
  const [first] = all;
  const last = all.at(-1);
  if (first === undefined || last === undefined || all.length < 2) return [];
  const change = last.em - first.em;
  const best = all.reduce((found, each) => (each.em > found.em ? each : found));
  return [
    piece(`  ${signedShare(change)}`, change > 0 ? "good" : change < 0 ? "bad" : "dim"),
    ...(best === last ? [] : [piece(`  best ${best.em.toFixed(3)} (${best.name})`, "note")]),
  ];
}
