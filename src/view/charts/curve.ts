import { formatCount, shortNumber } from "../../base/format.ts";
import type { Interval } from "../../evaluate/statistics.ts";
import type { BandPoint, StepValue } from "../runs/curve-statistics.ts";
import { type Content, type Markup, seriesClass, tag } from "../html/markup.ts";
import { type CurveAxis, drawing, lineMark } from "./marks.ts";

/** The frame of a panel's curves. */
export interface CurveFrame {
  /** First and last step of all panels of the part. */
  steps: readonly [first: number, last: number];
  axis: CurveAxis;
}

/** An arm's curves in a panel. */
export interface ArmCurve {
  /** Index of its colour, from 0. */
  series: number;
  /** The raw curve of each run. */
  runs: readonly (readonly StepValue[])[];
  /** Mean and spread over runs, and the same of the smoothed runs; empty for one run. */
  band: readonly BandPoint[];
  smoothBand: readonly BandPoint[];
  /** The one run or the mean, smoothed. */
  smooth: readonly StepValue[];
  /** Steps undone by a rollback. */
  rolledBack: readonly (readonly StepValue[])[];
  points: readonly CurvePoint[];
}

/** A held-out evaluation. */
export interface CurvePoint {
  step: number;
  value: number;
  /** Interval over questions, or range over several runs. */
  whisker: Interval | null;
  /** Full text for the tooltip. */
  title: string;
  /** A rollback undid its step. */
  takenBack?: boolean;
}

/** An event on the axis of steps. */
export interface StepMark {
  step: number;
  /** Of a rollback: the step that it returned to. */
  to?: number;
  kind: string;
  title: string;
}

/** Height of a plot in pixels, as in the style sheet. */
const HEIGHT = 104;
/** Width of the drawing in its own units; it is stretched to its place, but strokes are not. */
const WIDTH = 1000;

/** The plot of a panel: curves, held-out points, marks on the axis, and ticks. Lines use the available width; text is never scaled. */
export function curvePlot(
  arms: readonly ArmCurve[],
  marks: readonly StepMark[],
  frame: CurveFrame,
): Markup {
  const { axis } = frame;
  const grid = axis.ticks.map((tick) =>
    lineMark("grid", [0, y(tick, frame)], [WIDTH, y(tick, frame)]),
  );
  const labels = shownTicks(axis).map((tick) =>
    tag("text", { class: "end", x: "100%", y: y(tick, frame) + 4 }, tickText(tick)),
  );
  // Stretched to the width of its place, but strokes are not.
  const stretched = {
    class: "lines",
    width: "100%",
    height: HEIGHT,
    "aria-hidden": "true",
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    preserveAspectRatio: "none",
  };
  const lines = arms.map((arm) => armLines(arm, frame));
  const signs = marks.map((mark, i) => stepMark(mark, frame, signsUnder(marks, i)));
  const points = arms.map((arm, i) => armPoints(arm, frame, { at: i, of: arms.length }));
  return tag(
    "div",
    { class: "plot" },
    tag("svg", { class: "scale", height: HEIGHT, "aria-hidden": "true" }, labels),
    tag(
      "div",
      { class: "area" },
      tag("svg", stretched, grid, lines),
      drawing("marks", HEIGHT, signs, points),
    ),
    stepTicks(frame),
  );
}

function x(step: number, { steps: [first, last] }: CurveFrame): number {
  return last === first ? 0.5 : (step - first) / (last - first);
}

/** Margin of the lowest and highest ticks: at the edge a line would lose half its stroke. */
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
  return tag(
    "g",
    { class: `arm ${seriesClass(series)}`, "data-arm": series },
    bandArea("raw", band, frame),
    bandArea("smooth", smoothBand, frame),
    rolledBack.map((values) => line("rolled-back", values, frame)),
    runs.map((values) => line(single ? "run" : "run member", values, frame)),
    !single && line("mean raw", mean, frame),
    line("mean smooth", smooth, frame),
  );
}

function line(className: string, values: readonly StepValue[], frame: CurveFrame): Content {
  if (values.length === 0) return null;
  const points = values.map(({ step, value }) => place(step, value, frame));
  // A single point is visible by its round ends.
  if (values.length === 1)
    return tag("path", { class: `${className} alone`, d: `M${points.join("")}h0` });
  return tag("path", { class: className, d: `M${points.join("L")}` });
}

function place(step: number, value: number, frame: CurveFrame): string {
  return `${round(x(step, frame) * WIDTH)} ${y(value, frame)}`;
}

/** Both bands; the page shows one of them. */
function bandArea(className: string, band: readonly BandPoint[], frame: CurveFrame): Content {
  return (["range", "t95"] as const).map((kind) => {
    const ends = band.flatMap(({ step, [kind]: spread }) =>
      spread === null ? [] : [{ step, low: spread[0], high: spread[1] }],
    );
    if (ends.length < 2) return null;
    const up = ends.map(({ step, high }) => place(step, high, frame));
    const down = ends.map(({ step, low }) => place(step, low, frame)).reverse();
    const d = `M${up.join("L")}L${down.join("L")}Z`;
    return tag("path", { class: `band ${kind} ${className}`, d });
  });
}

/** Held-out points; those of several arms at one step are shifted slightly. */
function armPoints(
  { series, points }: ArmCurve,
  frame: CurveFrame,
  { at, of }: { at: number; of: number },
): Markup {
  const shift = (at - (of - 1) / 2) * Math.min(5, 20 / of);
  const { min, max } = frame.axis;
  const marks = points.map(({ step, value, whisker, title, takenBack }) => {
    const cx = percent(step, frame);
    const [low, high] = whisker ?? [value, value];
    return tag(
      "g",
      { class: `held-out${takenBack === true ? " taken-back" : ""}` },
      tag("title", {}, title),
      lineMark("whisker", [cx, y(Math.max(low, min), frame)], [cx, y(Math.min(high, max), frame)]),
      tag("circle", { class: "dot", cx, cy: y(value, frame), r: 4 }),
    );
  });
  const transform = `translate(${round(shift)} 0)`;
  return tag("g", { class: `arm ${seriesClass(series)}`, "data-arm": series, transform }, marks);
}

function percent(step: number, frame: CurveFrame): string {
  return `${Number((100 * x(step, frame)).toFixed(2))}%`;
}

/** Signs that differ without colour: a warning points up, a rollback back, a resume forward. */
const SIGNS: Readonly<Record<string, string>> = {
  alarm: "M0 -9L5 0H-5Z",
  rollback: "M0 0L8 -4V4Z",
  resumed: "M5 -4.5L-4 -9V0Z",
};

/** Number of earlier signs at the same step, which are below this one; rollbacks have another place. */
function signsUnder(marks: readonly StepMark[], at: number): number {
  const step = marks[at]?.step;
  return marks.slice(0, at).filter((each) => each.step === step && each.to === undefined).length;
}

/** A line at its step with a sign at its foot. A rollback's line is along the axis and points to its checkpoint. */
function stepMark({ step, to, kind, title }: StepMark, frame: CurveFrame, under: number): Markup {
  const sign = SIGNS[kind] ?? "M0 -9L4.5 -4.5L0 0L-4.5 -4.5Z";
  const [at, end] = [percent(step, frame), percent(to ?? step, frame)];
  const foot = to === undefined ? HEIGHT - 11 * under : HEIGHT;
  return tag(
    "g",
    { class: `step-mark ${kind}` },
    tag("title", {}, title),
    tag("line", { x1: at, x2: at, y1: 0, y2: HEIGHT }),
    to !== undefined && lineMark("way", [end, HEIGHT], [at, HEIGHT]),
    tag(
      "svg",
      { x: end, y: foot, overflow: "visible", "aria-hidden": "true" },
      tag("path", { d: sign }),
    ),
  );
}

function stepTicks({ steps: [first, last] }: CurveFrame): Markup {
  const labels: [className: string | null, x: string, step: number][] =
    first === last
      ? [["middle", "50%", first]]
      : [
          [null, "0", first],
          ["end", "100%", last],
        ];
  const texts = labels.map(([className, at, step]) =>
    tag("text", { class: className, x: at, y: 12 }, formatCount(step)),
  );
  return drawing("step-ticks", 15, texts);
}

/** A tick without trailing zeros. @example tickText(0.5) // "0.5" */
function tickText(tick: number): string {
  return shortNumber(tick).replace(/(\.\d*[1-9])0+$|\.0+$/, "$1");
}
