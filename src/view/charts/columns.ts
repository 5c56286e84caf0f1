import { fixed } from "../../base/format.ts";
import type { Interval } from "../../evaluate/statistics.ts";
import { type Content, type Markup, seriesClass, tag } from "../html/markup.ts";
import { type Axis, drawing, lineMark } from "./marks.ts";

/** Options of a chart over steps (0 searches, 1 search, …). */
export interface StepChart {
  /** Label under each step. */
  labels: readonly string[];
  axis: Axis;
  /** Height of the plot in pixels, without labels. */
  height: number;
  series: number;
}

const [ABOVE, BELOW] = [16, 18];

/** Upright bars, one per step, their values above them. */
export function columnChart(
  values: readonly { value: number; label: string }[],
  chart: StepChart,
): Markup {
  const slot = 100 / values.length;
  const width = Math.min(slot * 0.72, 18);
  const bars = values.map(({ value, label }, i) => {
    const height = (chart.height * value) / chart.axis.max;
    const top = ABOVE + chart.height - height;
    const x = slot * (i + 0.5);
    const place = { x: `${x - width / 2}%`, width: `${width}%` };
    return [
      tag("rect", { class: "bar", ...place, y: top.toFixed(1), height: height.toFixed(1), rx: 2 }),
      tag("text", { class: "middle value", x: `${x}%`, y: (top - 4).toFixed(1) }, label),
    ];
  });
  return frame(chart, bars, false);
}

/** Dots with whiskers, one per step; joined if the steps follow each other in time. A step without a value stays empty. */
export function stepDots(
  values: readonly { value: number | null; interval: Interval | null }[],
  chart: StepChart & { joined: boolean },
): Markup {
  const slot = 100 / values.length;
  const x = (i: number): string => `${slot * (i + 0.5)}%`;
  const y = (value: number): string =>
    (ABOVE + chart.height * (1 - value / chart.axis.max)).toFixed(1);
  const marks = values.map(({ value, interval }, i): Content => {
    if (value === null) return null;
    const before = values[i - 1]?.value ?? null;
    const title = tag("title", {}, fixed(3)(value));
    return [
      chart.joined &&
        before !== null &&
        lineMark("course", [x(i - 1), y(before)], [x(i), y(value)]),
      interval !== null && lineMark("whisker", [x(i), y(interval[0])], [x(i), y(interval[1])]),
      tag("circle", { class: "dot", cx: x(i), cy: y(value), r: 4.5 }, title),
    ];
  });
  return frame(chart, marks, true);
}

function frame(
  { labels, axis, height, series }: StepChart,
  marks: Content,
  hasGrid: boolean,
): Markup {
  const slot = 100 / labels.length;
  const [ground, whole] = [ABOVE + height, ABOVE + height + BELOW];
  const y = (tick: number): number => ABOVE + height * (1 - tick / axis.max);
  const grid = axis.ticks.map((tick) => lineMark("grid", [0, y(tick)], ["100%", y(tick)]));
  const ticks = axis.ticks.map((tick) =>
    tag("text", { class: "end", x: "100%", dx: -2, y: y(tick) + 4 }, tick),
  );
  const names = labels.map((label, i) =>
    tag("text", { class: "middle", x: `${slot * (i + 0.5)}%`, y: ground + 14 }, label),
  );
  const base = lineMark("axis", [0, ground], ["100%", ground]);
  const scale = { class: "scale", width: 32, height: whole, "aria-hidden": "true" };
  return tag(
    "div",
    { class: "step-chart" },
    tag("svg", scale, hasGrid && ticks),
    drawing(`mark ${seriesClass(series)}`, whole, hasGrid && grid, base, marks, names),
  );
}
