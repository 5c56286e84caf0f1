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

/** Labels of the ends and the middle of an axis: charts may be narrow. */
export function tickLabels(axis: Axis): Markup {
  const last = axis.ticks.length - 1;
  const labels = axis.ticks.map((tick, i) => {
    if (i !== 0 && i !== last && 2 * i !== last) return null;
    const anchor = i === 0 ? "start" : i === last ? "end" : "middle";
    return html`<text x="${percent(tick, axis)}" y="11" class="${anchor}">${tick}</text>`;
  });
  return html`<svg class="ticks" width="100%" height="14" aria-hidden="true">${labels}</svg>`;
}
