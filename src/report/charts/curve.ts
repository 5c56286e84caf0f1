import type { Interval } from "../../evaluate/statistics.ts";
import type { BandPoint, StepValue } from "../runs/curve-statistics.ts";
import { html, type Markup } from "../html/markup.ts";
import { shortNumber } from "../short-number.ts";
import type { CurveAxis } from "./curve-axis.ts";

/** What the curves of a panel are drawn in. */
export interface CurveFrame {
  /** First and last step of all panels that stand together. */
  steps: readonly [first: number, last: number];
  axis: CurveAxis;
}

/** An arm's curves in a panel. */
export interface ArmCurve {
  /** Its colour, and what the legend calls it by, from 0. */
  series: number;
  /** Of its runs as they are; one curve for one run. */
  runs: readonly (readonly StepValue[])[];
  /** Mean and spread over runs, and the same of the smoothed runs; empty for one run. */
  band: readonly BandPoint[];
  smoothBand: readonly BandPoint[];
  /** The one run or the mean, smoothed. */
  smooth: readonly StepValue[];
  /** Stretches that a rollback took back. */
  rolledBack: readonly (readonly StepValue[])[];
  points: readonly CurvePoint[];
}

/** A held-out evaluation. */
export interface CurvePoint {
  step: number;
  value: number;
  /** Of the questions, or of several runs. */
  whisker: Interval | null;
  /** For people, in whole. */
  title: string;
}

/** Something on the axis of steps. */
export interface StepMark {
  step: number;
  kind: string;
  title: string;
}

/** Height of a plot in pixels; the style sheet says the same. */
const HEIGHT = 104;
/** Units of the drawing's width, which is stretched to that of its place: strokes are not. */
const WIDTH = 1000;

/** The plot of a panel: curves, held-out points, marks on the axis, and ticks. Lines take the width that there is; text is never scaled. */
export function curvePlot(
  arms: readonly ArmCurve[],
  marks: readonly StepMark[],
  frame: CurveFrame,
): Markup {
  const { axis } = frame;
  const grid = axis.ticks.map(
    (tick) =>
      html`<line
        class="grid"
        x1="0"
        x2="${WIDTH}"
        y1="${y(tick, frame)}"
        y2="${y(tick, frame)}"
      />`,
  );
  const labels = shownTicks(axis).map(
    (tick) =>
      html`<text class="end" x="100%" y="${y(tick, frame) + 4}">${shortNumber(tick)}</text>`,
  );
  return html`<div class="plot">
    <svg class="scale" height="${HEIGHT}" aria-hidden="true">${labels}</svg>
    <div class="area">
      <svg
        class="lines"
        width="100%"
        height="${HEIGHT}"
        viewBox="0 0 ${WIDTH} ${HEIGHT}"
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        ${grid}${arms.map((arm) => armLines(arm, frame))}
      </svg>
      <svg class="marks" width="100%" height="${HEIGHT}" aria-hidden="true">
        ${marks.map((mark, i) => stepMark(mark, frame, marks.slice(0, i).filter(({ step }) => step === mark.step).length))}${arms.map((arm, i) => armPoints(arm, frame, { at: i, of: arms.length }))}
      </svg>
    </div>
    ${stepTicks(frame)}
  </div>`;
}

function x(step: number, { steps: [first, last] }: CurveFrame): number {
  return last === first ? 0.5 : (step - first) / (last - first);
}

/** The lowest and highest ticks keep clear of the edges, where a line would lose half its stroke. */
const MARGIN = 4;

function y(value: number, { axis: { min, max } }: CurveFrame): number {
  return round(HEIGHT - MARGIN - ((value - min) / (max - min)) * (HEIGHT - 2 * MARGIN));
}

function round(value: number): number {
  return Number(value.toFixed(1));
}

/** All ticks of a short axis; of a long one every second. */
function shownTicks({ ticks }: CurveAxis): number[] {
  return ticks.length <= 4 ? ticks : ticks.filter((_, i) => i % 2 === (ticks.length + 1) % 2);
}

function armLines(arm: ArmCurve, frame: CurveFrame): Markup {
  const { series, runs, band, smoothBand, smooth, rolledBack } = arm;
  const single = runs.length === 1;
  const mean = band.map(({ step, mean: value }) => ({ step, value }));
  return html`<g class="arm s${series % 6}" data-arm="${series}">
    ${bandArea("raw", band, frame)}${bandArea("smooth", smoothBand, frame)}
    ${rolledBack.map((values) => line("rolled-back", values, frame))}
    ${runs.map((values) => line(single ? "run" : "run member", values, frame))}
    ${!single && line("mean raw", mean, frame)}${line("mean smooth", smooth, frame)}
  </g>`;
}

function line(className: string, values: readonly StepValue[], frame: CurveFrame): Markup | null {
  if (values.length === 0) return null;
  const points = values.map(({ step, value }) => place(step, value, frame));
  // A point alone is seen by its round ends.
  const path = values.length === 1 ? `M${points.join("")}h0` : `M${points.join("L")}`;
  return html`<path class="${className}" d="${path}" />`;
}

function place(step: number, value: number, frame: CurveFrame): string {
  return `${round(x(step, frame) * WIDTH)} ${y(value, frame)}`;
}

/** Both spreads; the page shows one of them. */
function bandArea(
  className: string,
  band: readonly BandPoint[],
  frame: CurveFrame,
): (Markup | null)[] {
  return (["range", "t95"] as const).map((kind) => {
    const ends = band.flatMap(({ step, [kind]: spread }) =>
      spread === null ? [] : [{ step, low: spread[0], high: spread[1] }],
    );
    if (ends.length < 2) return null;
    const up = ends.map(({ step, high }) => place(step, high, frame));
    const down = ends.map(({ step, low }) => place(step, low, frame)).reverse();
    return html`<path class="band ${kind} ${className}" d="M${up.join("L")}L${down.join("L")}Z" />`;
  });
}

/** Held-out points; those of several arms at one step stand a little apart. */
function armPoints(
  { series, points }: ArmCurve,
  frame: CurveFrame,
  { at, of }: { at: number; of: number },
): Markup {
  const shift = (at - (of - 1) / 2) * 5;
  return html`<g
    class="arm s${series % 6}"
    data-arm="${series}"
    transform="translate(${round(shift)} 0)"
  >
    ${points.map(({ step, value, whisker, title }) => {
      const cx = percent(step, frame);
      const [low, high] = whisker ?? [value, value];
      return html`<g class="held-out">
        <title>${title}</title>
        <line
          class="whisker"
          x1="${cx}"
          x2="${cx}"
          y1="${y(Math.max(low, frame.axis.min), frame)}"
          y2="${y(Math.min(high, frame.axis.max), frame)}"
        />
        <circle class="dot" cx="${cx}" cy="${y(value, frame)}" r="4" />
      </g>`;
    })}
  </g>`;
}

function percent(step: number, frame: CurveFrame): string {
  return `${Number((100 * x(step, frame)).toFixed(2))}%`;
}

/** Signs that are told apart without colour: a warning points up, a return points back, a beginning points on. */
const SIGNS: Readonly<Record<string, string>> = {
  alarm: "M0 -9L5 0H-5Z",
  rollback: "M-5 -4.5L4 -9V0Z",
  resumed: "M5 -4.5L-4 -9V0Z",
};

/** @param above marks of the same step that are drawn under it. */
function stepMark({ step, kind, title }: StepMark, frame: CurveFrame, above: number): Markup {
  const sign = SIGNS[kind] ?? "M0 -9L4.5 -4.5L0 0L-4.5 -4.5Z";
  return html`<svg
    class="step-mark ${kind}"
    x="${percent(step, frame)}"
    y="${HEIGHT}"
    overflow="visible"
    aria-hidden="true"
  >
    <title>${title}</title>
    <line x1="0" x2="0" y1="${-HEIGHT}" y2="0" />
    <path d="${sign}" transform="translate(0 ${-11 * above})" />
  </svg>`;
}

function stepTicks({ steps: [first, last] }: CurveFrame): Markup {
  return html`<svg class="step-ticks" width="100%" height="15" aria-hidden="true">
    <text x="0" y="12">${first.toLocaleString("en")}</text>
    <text class="end" x="100%" y="12">${last === first ? "" : last.toLocaleString("en")}</text>
  </svg>`;
}
