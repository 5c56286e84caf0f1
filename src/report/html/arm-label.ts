import type { Arm } from "../runs/arms.ts";
import { html, type Markup } from "./markup.ts";

/** Colours that there are; what comes after them has the same ones in another shape. */
const COLOURS = 6;

/** Classes of whatever stands for an arm. @example seriesClass(7) // "s1 again" */
export function seriesClass(series: number): string {
  return `s${series % COLOURS}${series >= COLOURS ? " again" : ""}`;
}

/** An arm's name behind its colour. */
export function armLabel({ series }: Pick<Arm, "series">, name: string): Markup {
  return html`<span class="key ${seriesClass(series)}"></span>${name}`;
}
