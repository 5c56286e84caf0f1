import type { Interval } from "../../evaluate/statistics.ts";
import { html, type Markup } from "../html/markup.ts";
import type { Axis } from "./axis.ts";

/** How a chart over steps (0 searches, 1 search, …) is drawn. */
export interface StepChart {
  /** Under each step. */
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
    return html`<rect
        class="bar"
        x="${slot * (i + 0.5) - width / 2}%"
        width="${width}%"
        y="${top.toFixed(1)}"
        height="${height.toFixed(1)}"
        rx="2"
      />
      <text class="middle value" x="${slot * (i + 0.5)}%" y="${(top - 4).toFixed(1)}"
        >${label}</text
      >`;
  });
  return frame(chart, bars, false);
}

/** Dots with whiskers, one per step; joined where the steps are a course of time. A step without a value is left empty. */
export function stepDots(
  values: readonly { value: number | null; interval: Interval | null }[],
  chart: StepChart & { joined: boolean },
): Markup {
  const slot = 100 / values.length;
  const x = (i: number): string => `${slot * (i + 0.5)}%`;
  const y = (value: number): string =>
    (ABOVE + chart.height * (1 - value / chart.axis.max)).toFixed(1);
  const marks = values.map(({ value, interval }, i) => {
    if (value === null) return null;
    const before = values[i - 1]?.value ?? null;
    return html`${chart.joined && before !== null && html`<line class="course" x1="${x(i - 1)}" x2="${x(i)}" y1="${y(before)}" y2="${y(value)}" />`}${
        interval !== null &&
        html`<line
          class="whisker"
          x1="${x(i)}"
          x2="${x(i)}"
          y1="${y(interval[0])}"
          y2="${y(interval[1])}"
        />`
      }<circle class="dot" cx="${x(i)}" cy="${y(value)}" r="4.5"
        ><title>${value.toFixed(3)}</title></circle
      >`;
  });
  return frame(chart, marks, true);
}

function frame(
  { labels, axis, height, series }: StepChart,
  marks: readonly (Markup | null)[],
  hasGrid: boolean,
): Markup {
  const slot = 100 / labels.length;
  const y = (tick: number): number => ABOVE + height * (1 - tick / axis.max);
  const base = html`<line
    class="axis"
    x1="0"
    x2="100%"
    y1="${ABOVE + height}"
    y2="${ABOVE + height}"
  />`;
  const grid = axis.ticks.map(
    (tick) => html`<line class="grid" x1="0" x2="100%" y1="${y(tick)}" y2="${y(tick)}" />`,
  );
  const ticks = axis.ticks.map(
    (tick) => html`<text class="end" x="100%" dx="-2" y="${y(tick) + 4}">${tick}</text>`,
  );
  return html`<div class="step-chart">
    <svg class="scale" width="32" height="${ABOVE + height + BELOW}" aria-hidden="true">
      ${hasGrid ? ticks : null}</svg
    ><svg
      class="mark s${series % 6}"
      width="100%"
      height="${ABOVE + height + BELOW}"
      aria-hidden="true"
    >
      ${hasGrid ? grid : null}${base}${marks}${labels.map(
        (label, i) =>
          html`<text class="middle" x="${slot * (i + 0.5)}%" y="${ABOVE + height + 14}"
            >${label}</text
          >`,
      )}
    </svg>
  </div>`;
}
