/** Marks in a table's cell, as wide as the cell: bars, dots with whiskers, and the axis above them. */
import type { Interval } from "../../evaluate/statistics.ts";
import { type Content, type Markup, seriesClass, tag } from "../html/markup.ts";

/** A linear axis. */
export interface Axis {
  /** 0 when absent. */
  min?: number;
  max: number;
  ticks: number[];
}

/**
 * An axis from 0 to a round number that is at least `largest`, with three to six ticks.
 * @example axisTo(0.37).ticks // [0, 0.1, 0.2, 0.3, 0.4]
 */
export function axisTo(largest: number): Axis {
  if (!(largest > 0)) return { max: 1, ticks: [0, 0.5, 1] };
  const step = roundStep(largest / 4);
  const count = Math.ceil(largest / step - 1e-9);
  const ticks = Array.from({ length: count + 1 }, (_, i) => Number((i * step).toPrecision(12)));
  return { max: ticks.at(-1) ?? 1, ticks };
}

/** An axis with 0 in the middle. @example axisAround(0.37).ticks // [−0.4, −0.2, 0, 0.2, 0.4] */
export function axisAround(largest: number): Axis {
  const step = roundStep(largest / 2);
  const ticks = [-2, -1, 0, 1, 2].map((i) => Number((i * step).toPrecision(12)));
  return { min: -2 * step, max: 2 * step, ticks };
}

/** The smallest of 1, 2, 2.5, 5 times a power of ten that is at least `rough`. @example roundStep(0.3) // 0.5 */
function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  return ([1, 2, 2.5, 5].find((each) => each * power >= rough * 0.999) ?? 10) * power;
}

/** A position along an axis in percent, for SVG, so that a chart fits any width. */
export function percent(value: number, { min = 0, max }: Pick<Axis, "min" | "max">): string {
  const within = Math.min(Math.max(value, min), max);
  return `${Number(((100 * (within - min)) / (max - min)).toFixed(3))}%`;
}

/** Labels of the ends and the middle of an axis: charts may be narrow. */
export function tickLabels(axis: Axis): Markup {
  const last = axis.ticks.length - 1;
  const labels = axis.ticks.map((tick, i) => {
    if (i !== 0 && i !== last && 2 * i !== last) return null;
    const anchor = i === 0 ? "start" : i === last ? "end" : "middle";
    return tag("text", { x: percent(tick, axis), y: 11, class: anchor }, tick);
  });
  return drawing("ticks", 14, labels);
}

/** A drawing as wide as its place, hidden from screen readers. */
export function drawing(className: string, height: number, ...content: Content[]): Markup {
  const attributes = { class: className, width: "100%", height, "aria-hidden": "true" };
  return tag("svg", attributes, ...content);
}

/** A line between two points of a drawing. */
export function lineMark(
  className: string,
  [x1, y1]: readonly [string | number, string | number],
  [x2, y2]: readonly [string | number, string | number],
): Markup {
  return tag("line", { class: className, x1, x2, y1, y2 });
}

const BAR_HEIGHT = 12;

function bar(className: string, width: string): Markup {
  return tag("rect", { class: className, width, height: BAR_HEIGHT, rx: 2 });
}

function barChart(series: number, ...bars: Markup[]): Markup {
  return drawing(`mark ${seriesClass(series)}`, BAR_HEIGHT, bar("track", "100%"), bars);
}

/** A share as a bar on a track of the whole. */
export function shareBar(share: number, series: number): Markup {
  return barChart(series, bar("bar", percent(share, { max: 1 })));
}

/** Input and output of a step as one bar, both as shares of a whole; the lost part is pale. */
export function yieldBar(shares: { in: number; out: number }, series: number): Markup {
  const [lost, left] = [percent(shares.in, { max: 1 }), percent(shares.out, { max: 1 })];
  return barChart(series, bar("lost", lost), bar("bar", left));
}

/** A value with its interval. */
export interface DotWhisker {
  value: number | null;
  interval: Interval | null;
  /** Index of its colour, from 0. */
  series: number;
  /** Another number beside it, as a tick: a paper's. */
  tick?: number | null;
}

/** A dot, its interval and the grid. The number is beside it. */
export function dotWhisker({ value, interval, series, tick }: DotWhisker, axis: Axis): Markup {
  const height = 22;
  const y = height / 2;
  const grid = axis.ticks.map((tick) => {
    const x = percent(tick, axis);
    return lineMark("grid", [x, 0], [x, height]);
  });
  const [low = "", high = ""] = interval?.map((end) => percent(end, axis)) ?? [];
  const whisker = interval !== null && [
    lineMark("whisker", [low, y], [high, y]),
    ...[low, high].map((end) => lineMark("whisker", [end, y - 4], [end, y + 4])),
  ];
  const dot =
    value !== null && tag("circle", { class: "dot", cx: percent(value, axis), cy: y, r: 4.5 });
  const zero =
    axis.min !== undefined && lineMark("zero", [percent(0, axis), 0], [percent(0, axis), height]);
  const beside =
    tick != null && lineMark("paper", [percent(tick, axis), 3], [percent(tick, axis), height - 3]);
  return drawing(`mark ${seriesClass(series)}`, height, grid, zero, whisker, dot, beside);
}

/** A linear axis between two round numbers. */
export interface CurveAxis {
  min: number;
  max: number;
  ticks: number[];
}

/**
 * An axis over values: from 0 if they are near it, with two to five ticks.
 * @param values finite; none gives 0 to 1.
 * @example curveAxis([0.31, 0.94]).ticks // [0, 0.5, 1]; curveAxis([-18, -2]).ticks // [-20, -10, 0]
 */
export function curveAxis(values: Iterable<number>): CurveAxis {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low > high) return { min: 0, max: 1, ticks: [0, 0.5, 1] };
  if (low >= 0 && low <= 0.6 * high) low = 0;
  if (high <= 0 && high >= 0.6 * low) high = 0;
  if (low === high) {
    // All equal: a line in the middle, or at the bottom for 0.
    const reach = low === 0 ? 1 : Math.abs(low) / 2;
    [low, high] = low === 0 ? [0, 1] : [low - reach, high + reach];
  }
  const step = roundStep((high - low) / 3);
  const from = Math.floor(low / step + 1e-9);
  const to = Math.ceil(high / step - 1e-9);
  const ticks = Array.from({ length: to - from + 1 }, (_, i) =>
    Number(((from + i) * step).toPrecision(12)),
  );
  return { min: ticks[0] ?? 0, max: ticks.at(-1) ?? 1, ticks };
}
