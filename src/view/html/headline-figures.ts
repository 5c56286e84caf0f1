import type { NumberFormat } from "../../base/format.ts";
import { type Content, type Markup, seriesClass, seriesLabel, tag } from "./markup.ts";

/** The number that answers a page's question. */
export interface HeadlineFigure {
  /** Index of its colour. */
  series: number;
  /** Of what it is, if there are several. */
  name: string | null;
  label: string;
  value: number | null;
  format: NumberFormat;
  /** Interval, change, number of questions. */
  details: readonly Content[];
}

/** The answers of a page, large, before everything else. */
export function headlineFigures(figures: readonly HeadlineFigure[]): Markup {
  const tiles = figures.map(({ series, name, label, value, format, details }) =>
    tag(
      "div",
      { class: `card answer ${seriesClass(series)}` },
      name !== null && tag("h3", {}, seriesLabel(series, name)),
      tag(
        "p",
        { class: "big" },
        value === null || Number.isNaN(value) ? "–" : format(value),
        tag("span", {}, ` ${label}`),
      ),
      details.map((detail) => tag("p", {}, detail)),
    ),
  );
  return tag("div", { class: "answers" }, tiles);
}
