import { html, type Markup } from "../html/markup.ts";

/** A linear axis from 0. */
export interface Axis {
  max: number;
  ticks: number[];
}

/**
 * An axis from 0 to a round number that is at least `largest`, with three to six ticks.
 * @example axisTo(0.37).ticks // [0, 0.1, 0.2, 0.3, 0.4]
 */
export function axisTo(largest: number): Axis {
  if (!(largest > 0)) return { max: 1, ticks: [0, 0.5, 1] };
  const rough = largest / 4;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 2.5, 5].find((each) => each * power >= rough * 0.999) ?? 10) * power;
  const count = Math.ceil(largest / step - 1e-9);
  const ticks = Array.from({ length: count + 1 }, (_, i) => Number((i * step).toPrecision(12)));
  return { max: ticks.at(-1) ?? 1, ticks };
}

/** A position along an axis for an attribute of SVG, so that a chart takes whatever width there is. */
export function percent(value: number, { max }: Pick<Axis, "max">): string {
  return `${Number(((100 * Math.min(Math.max(value, 0), max)) / max).toFixed(3))}%`;
}

/** Tick labels above or below charts of one axis. */
export function tickLabels(axis: Axis): Markup {
  return html`<svg class="ticks" width="100%" height="14" aria-hidden="true">
    ${axis.ticks.map(
      (tick, i) =>
        html`<text x="${percent(tick, axis)}" y="11" class="${anchor(i, axis)}"
          >${tickText(tick)}</text
        >`,
    )}
  </svg>`;
}

function anchor(i: number, { ticks }: Axis): string {
  if (i === 0) return "start";
  return i === ticks.length - 1 ? "end" : "middle";
}

function tickText(tick: number): string {
  return tick === 0 ? "0" : String(tick);
}
