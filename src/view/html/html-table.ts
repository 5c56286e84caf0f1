import { ABSENT, formatInterval, type NumberFormat, orAbsent } from "../../base/format.ts";
import { alignOf } from "../../base/table.ts";
import { card, type Content, html, type Markup, plainText, tag, unseen } from "./markup.ts";

/** A column as in base/table.ts, whose label may be markup. */
export interface HtmlColumn {
  label: Content;
  /** Label beside a cell on a phone, if the label itself is a drawing. */
  stacked?: string;
  /** Number format of its cells. */
  format?: NumberFormat;
  align?: "left" | "right";
  /** Class of its cells. */
  className?: string;
}

/** A cell: markup, a text, a number in its column's format; null: not measured. */
export type HtmlCell = Content;

/** Rows of one group. */
export interface HtmlGroup {
  /** Heading above them. */
  title?: Content;
  /** Heading beside all of them, instead of one for each row. */
  side?: Content;
  rows: readonly (readonly HtmlCell[])[];
}

/** A table of a page. The first cell of a row is its heading. */
export interface HtmlTable {
  caption: string;
  /** Whether the caption is visible; otherwise only screen readers read it. */
  isTitled?: true;
  className: string;
  columns: readonly (HtmlColumn | string)[];
  rows?: readonly (readonly HtmlCell[])[];
  groups?: readonly HtmlGroup[];
}

/** A table as HTML: headings with their scope, numbers on the right. */
export function renderHtml(table: HtmlTable): Markup {
  const { caption, isTitled, className, columns, rows, groups = [{ rows: rows ?? [] }] } = table;
  const heads = columns.map((column) => {
    const attributes = { scope: "col", class: classOf(column) };
    return tag("th", attributes, typeof column === "string" ? column : column.label);
  });
  return tag(
    "table",
    { class: className },
    tag("caption", { class: isTitled === true ? null : "unseen" }, caption),
    tag("thead", {}, tag("tr", {}, heads)),
    groups.map((group) => groupBody(group, columns)),
  );
}

/** Number of columns from which a phone shows each row as a list, because a table would not fit. */
const STACKED_COLUMNS = 4;

/** A table in a box of its own. */
export function tableCard(table: HtmlTable): Markup {
  const stacks = table.columns.length >= STACKED_COLUMNS;
  return card(renderHtml(stacks ? { ...table, className: `${table.className} stacks` } : table));
}

function groupBody({ title, side, rows }: HtmlGroup, columns: HtmlTable["columns"]): Content {
  const body = rows.map((row, i) => {
    const cells = row.map((cell, at) => cellTag(cell, columns[side === undefined ? at : at + 1]));
    const [first = null] = row;
    const head =
      side === undefined
        ? tag("th", { scope: "row" }, first)
        : i === 0 && tag("th", { scope: "rowgroup", rowspan: rows.length }, side);
    return tag("tr", {}, head, side === undefined ? cells.slice(1) : cells);
  });
  const heading =
    title !== undefined &&
    tag(
      "tr",
      { class: "group" },
      tag("th", { colspan: columns.length, scope: "rowgroup" }, tag("span", {}, title)),
    );
  return tag("tbody", {}, heading, body);
}

function cellTag(cell: HtmlCell, column: HtmlColumn | string | undefined): Markup {
  const format = typeof column === "object" ? (column.format ?? String) : String;
  const content = cell === null ? ABSENT : typeof cell === "number" ? orAbsent(cell, format) : cell;
  if (column === undefined) return tag("td", {}, content);
  const label = plainText(typeof column === "string" ? column : (column.stacked ?? column.label));
  // On a phone the label is beside all of the content.
  return tag("td", { class: classOf(column), "data-label": label }, tag("div", {}, content));
}

function classOf(column: HtmlColumn | string): string | null {
  if (typeof column === "string") return null;
  const { className, format, align } = column;
  const side = alignOf({ label: "", format, align });
  return className ?? (side === "right" ? "number" : null);
}

/** A value in bold, followed by its 95 % interval or another remark in small print. */
export function measured(
  value: number | null | undefined,
  format: NumberFormat,
  interval?: readonly [number, number] | null,
): Content {
  const ends =
    interval !== null && interval !== undefined && small(formatInterval(interval, format));
  return [tag("b", {}, orAbsent(value, format)), ends];
}

/** Small print behind a number. */
export function small(...content: Content[]): Markup {
  return html` <small>${content}</small>`;
}

/** A label for screen readers only. */
export function unseenLabel(text: string, className?: string): HtmlColumn {
  return { label: unseen(text), className };
}
