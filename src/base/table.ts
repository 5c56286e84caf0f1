/** Tables as aligned text and as Markdown; src/view draws those of reports. */
import { ABSENT, formatInterval, type NumberFormat, orAbsent } from "./format.ts";
import { visibleLine } from "./visible-text.ts";

/** A text, a number or an interval (formatted by its column), or null for "not measured". */
export type Cell = string | number | null | undefined | readonly [number, number];

/** A column. Number columns are right-aligned, all others left-aligned. */
export type Column = { label: string; format?: NumberFormat; align?: "left" | "right" };

/** Rows and columns. A string is the label of a text column; "" is a column without a heading. */
export interface Table {
  columns?: readonly (Column | string)[];
  /** A short row leaves its last cells empty. */
  rows: readonly (readonly Cell[])[];
}

/** A left-aligned column of intervals. */
export function intervalColumn(label: string, format: NumberFormat): Column {
  return { label, format, align: "left" };
}

function cellText(cell: Cell, format: NumberFormat = String): string {
  if (typeof cell === "string") return visibleLine(cell);
  if (cell === undefined) return "";
  if (cell === null) return ABSENT;
  return typeof cell === "number" ? orAbsent(cell, format) : formatInterval(cell, format);
}

function alignOf(column: Column | string | undefined): "left" | "right" {
  if (column === undefined || typeof column === "string") return "left";
  return column.align ?? (column.format === undefined ? "left" : "right");
}

function labelsOf({ columns = [] }: Table): string[] {
  return columns.map((column) => visibleLine(typeof column === "string" ? column : column.label));
}

function textsOf({ columns = [], rows }: Table): string[][] {
  return rows.map((row) =>
    row.map((cell, i) => {
      const column = columns[i];
      return cellText(cell, typeof column === "string" ? undefined : column?.format);
    }),
  );
}

/**
 * A table as aligned text: two spaces between columns, no trailing spaces, no final newline.
 * @example renderText({ columns: ["", { label: "mean", format: fixed(1) }], rows: [["em", 0.5]] }) // "    mean\nem   0.5"
 */
export function renderText(table: Table, indent = 0): string {
  const { columns = [] } = table;
  const labels = labelsOf(table);
  const texts = textsOf(table);
  const lines = labels.some((label) => label !== "") ? [labels, ...texts] : texts;
  const count = Math.max(0, ...lines.map((line) => line.length));
  const widths = Array.from({ length: count }, (_, i) =>
    Math.max(...lines.map((line) => displayWidth(line[i] ?? ""))),
  );
  return lines
    .map((line) => {
      const cells = widths.map((width, i) => {
        const cell = line[i] ?? "";
        const space = " ".repeat(width - displayWidth(cell));
        return alignOf(columns[i]) === "right" ? space + cell : cell + space;
      });
      return (" ".repeat(indent) + cells.join("  ")).trimEnd();
    })
    .join("\n");
}

/** A table as Markdown, with right-aligned number columns. */
export function renderMarkdown(table: Table): string {
  const { columns = [] } = table;
  const labels = labelsOf(table);
  const texts = textsOf(table);
  const count = Math.max(labels.length, ...texts.map((row) => row.length));
  const line = (cells: readonly string[]): string =>
    `| ${Array.from({ length: count }, (_, i) => (cells[i] ?? "").replaceAll("|", "\\|")).join(" | ")} |`;
  const rule = Array.from({ length: count }, (_, i) =>
    alignOf(columns[i]) === "right" ? "--:" : ":--",
  );
  return [line(labels), line(rule), ...texts.map(line)].join("\n");
}

/** Terminal columns of a text: wide East Asian characters and emoji take two, combining marks none. */
export function displayWidth(text: string): number {
  let width = 0;
  for (const character of text) {
    if (/\p{Mark}|\p{Format}/u.test(character)) continue;
    width +=
      /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}|\p{Script=Hangul}|\p{Emoji_Presentation}|[\uFF01-\uFF60]/u.test(
        character,
      )
        ? 2
        : 1;
  }
  return width;
}
