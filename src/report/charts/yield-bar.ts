import { html, type Markup } from "../html/markup.ts";
import { percent } from "./axis.ts";

/** What went into a step and what came out as one bar, both as shares of a whole: what was lost stands pale behind what was left. */
export function yieldBar(shares: { in: number; out: number }, series: number): Markup {
  return html`<svg class="mark s${series % 6}" width="100%" height="12" aria-hidden="true">
    <rect class="track" width="100%" height="12" rx="2" />
    <rect class="lost" width="${percent(shares.in, { max: 1 })}" height="12" rx="2" />
    <rect class="bar" width="${percent(shares.out, { max: 1 })}" height="12" rx="2" />
  </svg>`;
}
