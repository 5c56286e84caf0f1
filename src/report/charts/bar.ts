import { html, type Markup } from "../html/markup.ts";
import { percent } from "./axis.ts";

/** A share as a bar in a table's cell, on a track of the whole. */
export function shareBar(share: number, series: number): Markup {
  return html`<svg class="mark s${series % 6}" width="100%" height="12" aria-hidden="true">
    <rect class="track" width="100%" height="12" rx="2" />
    <rect class="bar" width="${percent(share, { max: 1 })}" height="12" rx="2" />
  </svg>`;
}
