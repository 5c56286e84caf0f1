import type { ReactNode } from "react";
import { type Line, piece, widthOf } from "../../view/styled.ts";
import { signedShare } from "./metric-rows.ts";
import type { EvaluationPoint } from "./run-view.ts";
import { StyledLines } from "./StyledLines.tsx";
import { bar } from "./WorkLines.tsx";

interface EvaluationsProps {
  evaluations: readonly EvaluationPoint[];
  /** 1: a line; more: a table of as many rows. */
  rows: number;
  columns: number;
  colours: boolean;
}

/** Exact match on held-out questions so far: the first, as many of the latest as fit, and the best. */
export function Evaluations({ evaluations, rows, columns, colours }: EvaluationsProps): ReactNode {
  const lines =
    rows > 1 ? tableLines(evaluations, rows, columns) : [fittingLine(evaluations, columns)];
  return rows > 0 && <StyledLines lines={lines} colours={colours} />;
}

function tableLines(all: readonly EvaluationPoint[], rows: number, columns: number): Line[] {
  const [first] = all;
  if (first === undefined) return [];
  const shown = rows - 2;
  const kept = all.length <= shown ? all : [first, ...all.slice(1 - shown)];
  const widest = Math.max(...kept.map(({ name }) => name.length));
  const width = Math.floor(columns / 3);
  return [
    [piece("held-out EM", "bold"), piece(` on ${first.n} questions`, "dim")],
    ...kept.map((each): Line => [
      piece(each.name.padEnd(widest + 2), "dim"),
      piece(`${each.em.toFixed(3)}  `, "bold"),
      ...bar(each.em, width),
      ...(each === all.at(-1) ? outcome(all, true) : []),
    ]),
    [],
  ];
}

function fittingLine(evaluations: readonly EvaluationPoint[], columns: number): Line {
  const [first, ...later] = evaluations;
  if (first === undefined) return [];
  for (let kept = later.length; kept >= 1; kept--) {
    const shown = [first, ...later.slice(later.length - kept)];
    const way = wayLine(shown, later.length - kept);
    const lines = [true, false].map((named) => [...way, ...outcome(evaluations, named)]);
    const fitting = lines.find((line) => widthOf(line) <= columns);
    if (fitting !== undefined) return fitting;
  }
  return wayLine([first, ...later.slice(-1)], later.length - 1);
}

/** @param hidden evaluations between the first and the second that is shown. */
function wayLine(shown: readonly EvaluationPoint[], hidden: number): Line {
  return [
    piece("held-out EM", "bold"),
    ...shown.flatMap(({ name, em }, i) => {
      const between = i === 0 ? " " : i === 1 && hidden > 0 ? " → … → " : " → ";
      return [piece(`${between}${name} `, "dim"), piece(em.toFixed(3), "bold")];
    }),
  ];
}

/** The change since the first evaluation, and the best. @param isNamed whether it names the first. */
function outcome(all: readonly EvaluationPoint[], isNamed: boolean): Line {
  const [first] = all;
  const last = all.at(-1);
  if (first === undefined || last === undefined || all.length < 2) return [];
  const change = last.em - first.em;
  const best = all.reduce((found, each) => (each.em > found.em ? each : found));
  return [
    piece(`  ${signedShare(change)}`, change > 0 ? "good" : change < 0 ? "bad" : "dim"),
    piece(isNamed ? ` since ${first.name}` : "", "dim"),
    ...(best === last ? [] : [piece(`  best ${best.em.toFixed(3)} (${best.name})`, "note")]),
  ];
}
