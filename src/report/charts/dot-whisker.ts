import type { Interval } from "../../evaluate/statistics.ts";
import { html, type Markup } from "../html/markup.ts";
import { type Axis, percent } from "./axis.ts";

/** A value with how sure it is. */
export interface DotWhisker {
  value: number | null;
  interval: Interval | null;
  /** Which of the results' colours, from 0. */
  series: number;
}

const HEIGHT = 22;

/** One line of a chart that stands in a table's cell: a dot, its interval and the grid, as wide as the cell. The number stands beside it. */
export function dotWhisker({ value, interval, series }: DotWhisker, axis: Axis): Markup {
  const y = HEIGHT / 2;
  const [low, high] = (interval ?? [0, 0]).map((end) => percent(end, axis));
  return html`<svg class="mark s${series % 6}" width="100%" height="${HEIGHT}" aria-hidden="true">
    ${axis.ticks.map((tick) => html`<line class="grid" x1="${percent(tick, axis)}" x2="${percent(tick, axis)}" y1="0" y2="${HEIGHT}" />`)}
    ${
      interval !== null &&
      html`<line class="whisker" x1="${low ?? ""}" x2="${high ?? ""}" y1="${y}" y2="${y}" />
        <line
          class="whisker"
          x1="${low ?? ""}"
          x2="${low ?? ""}"
          y1="${y - 4}"
          y2="${y + 4}"
        /><line
          class="whisker"
          x1="${high ?? ""}"
          x2="${high ?? ""}"
          y1="${y - 4}"
          y2="${y + 4}"
        />`
    }
    ${value !== null && html`<circle class="dot" cx="${percent(value, axis)}" cy="${y}" r="4.5" />`}
  </svg>`;
}
