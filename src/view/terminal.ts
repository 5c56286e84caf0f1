/** The pen of terminals: blocks as lines, wrapped at words. */
import {
  ABSENT,
  formatInterval,
  type NumberFormat,
  orAbsent,
  shortNumber,
} from "../base/format.ts";
import {
  type Block,
  type Cell,
  type Column,
  type Document,
  type Figure,
  type Inline,
  type Measured,
  plainText,
  type Table,
} from "./document.ts";
import { sparkline } from "./sparkline.ts";
import { type Line, type Painted, type Piece, piece, type Style, widthOf, wrap } from "./styled.ts";

const STYLES: Partial<Record<string, Style>> = {
  strong: "bold",
  small: "dim",
  good: "good",
  bad: "bad",
  note: "note",
  trouble: "bad",
};

/** What a command prints: text, perhaps with data in it; painted lines; or blocks, which are drawn for the stream that they go to. */
export type Printed = string | Painted | readonly Block[];

/** Text as pieces. */
function pieces(inline: Inline, style: Style = "plain"): Piece[] {
  if (inline === null || inline === false || inline === "") return [];
  if (typeof inline === "string") return [piece(inline, style)];
  if (!("text" in inline)) return inline.flatMap((each) => pieces(each, style));
  const own = pieces(inline.text, STYLES[inline.style] ?? style);
  return inline.style === "small" ? [piece(" "), ...own] : own;
}

/** Blocks that only pages draw. */
const DRAWN = new Set(["curves", "filter"]);

/** A document's blocks, for pens without pages. */
export function documentBlocks({ title, lead, warnings = [], sections }: Document): Block[] {
  return [
    { kind: "heading", text: title },
    ...lead.map((text): Block => ({ kind: "text", text })),
    ...warnings,
    ...sections
      .filter(({ blocks }) => blocks.some(({ kind }) => !DRAWN.has(kind)))
      .flatMap(({ title: name, note = null, blocks }): Block[] => [
        { kind: "heading", level: 1, text: [name, note !== null && ` (${note})`] },
        ...blocks,
      ]),
  ];
}

const PARAGRAPHS = new Set(["text", "note", "warning", "list", "figures", "command"]);

/** Blocks as lines, apart by blank lines; paragraphs follow each other without, and what a heading is for follows it. */
export function blockLines(blocks: readonly Block[], columns = Infinity): Line[] {
  const lines: Line[] = [];
  let [before, indent] = ["", 0];
  for (const block of flat(blocks)) {
    const { kind } = block;
    const own = linesOf(block, columns - indent);
    if (own.length === 0) continue;
    const joined = before === "heading" || (PARAGRAPHS.has(before) && PARAGRAPHS.has(kind));
    if (lines.length > 0 && !joined) lines.push([]);
    if (kind === "heading") indent = 2;
    const space = kind === "heading" ? "" : " ".repeat(indent);
    lines.push(
      ...own.map((line) => (line.length === 0 || space === "" ? line : [piece(space), ...line])),
    );
    before = kind;
  }
  return lines;
}

/** Blocks without groups; folded ones are for pages. */
function flat(blocks: readonly Block[]): Block[] {
  return blocks.flatMap((block) => {
    if (block.kind === "group") return flat(block.blocks);
    return block.kind === "fold" ? [] : [block];
  });
}

function linesOf(block: Block, columns: number): Line[] {
  switch (block.kind) {
    case "heading":
      return wrap(pieces(block.text, "bold"), columns);
    case "text":
      return wrap(pieces(block.text), columns);
    case "note":
      return wrap(pieces(block.text), columns);
    case "warning":
      return [
        ...wrap(pieces(block.text, "note"), columns),
        ...(block.table === undefined ? [] : tableLines(block.table, columns)),
      ];
    case "list":
      return block.items.flatMap((item) =>
        wrap(pieces(item), columns - 2).map((line, i) => [piece(i === 0 ? "- " : "  "), ...line]),
      );
    case "facts":
      return aligned(
        block.facts.map(([label, value]) => [pieces(label), pieces(value)]),
        { columns },
      );
    case "figures":
      return block.figures.flatMap((figure) => wrap(figureLine(figure), columns));
    case "table":
      return tableLines(block, columns);
    case "curves":
      return [];
    case "curve": {
      const { panel } = block;
      return panel.values.flatMap((own) => {
        const last = own.at(-1)?.value;
        if (last === undefined) return [];
        const shape = sparkline(
          own.map(({ value }) => value),
          Math.min(40, columns),
          panel.spec.share,
        );
        return [
          [
            piece(`${panel.spec.title.padEnd(24)} `),
            piece(shape, "tag"),
            piece(` ${shortNumber(last)}`),
          ],
        ];
      });
    }
    case "command":
      // As a comment of the shell, so that the whole line can be copied.
      return [[piece(block.command, "bold"), piece(`  # ${block.does}`, "dim")]];
    case "fold":
    case "group":
    case "filter":
      return [];
  }
}

/** @example "EM 0.500  0.100 … 0.900, 12 questions" */
export function figureLine({ name, value, format, label, tone, details }: Figure): Piece[] {
  const shown = typeof value === "number" && format ? orAbsent(value, format) : (value ?? ABSENT);
  return [
    ...(plainText(name) === "" ? [] : pieces([name, "  "])),
    ...(plainText(label) === "" ? [] : pieces([label, " "])),
    piece(String(shown), tone ?? "bold"),
    ...details
      .filter((each) => plainText(each) !== "")
      .flatMap((each) => [piece("  "), ...pieces(each)]),
  ];
}

export function alignOf({ align, format }: Column): "left" | "right" {
  return align ?? (format === undefined ? "left" : "right");
}

export function isInterval(cell: unknown): cell is readonly [number, number] {
  return Array.isArray(cell) && typeof cell[0] === "number";
}

const INTERVAL = "95 % interval";

/** A table as text: its columns, and rows of as many cells, or with a title alone. */
export interface WrittenTable {
  columns: { label: Inline; align: "left" | "right" }[];
  rows: { title?: Inline; cells: Inline[] }[];
}

/**
 * A table for the pens of text: without drawings, groups as rows. A column of measured values has a second one beside it, with intervals
 * and remarks.
 * @param wide whether there is room for the second ones.
 */
export function writtenTable({ columns, groups }: Table, wide = true): WrittenTable {
  const rows = groups.flatMap(({ title, side, rows: own }) => [
    ...(title === undefined || own.length === 0 ? [] : [{ title, row: [] }]),
    ...own.map((row, i) => ({ row: side === undefined ? row : [i === 0 ? side : "", ...row] })),
  ]);
  const count = Math.max(columns.length, ...rows.map(({ row }) => row.length));
  const shown = Array.from({ length: count }, (_, at) => {
    const given = columns[at] ?? "";
    const column = typeof given === "string" ? { label: given } : given;
    const measured = rows.flatMap(({ row }) => measuredOf(row[at]) ?? []);
    const hasInterval = measured.some(({ interval }) => interval != null);
    const hasRemark = measured.some(({ remark = null }) => plainText(remark) !== "");
    return { column, at, hasInterval, isDouble: wide && (hasInterval || hasRemark) };
  }).filter(({ column }) => column.drawn !== true && column.axis === undefined);
  return {
    columns: shown.flatMap(({ column, hasInterval, isDouble }) => [
      { label: column.label, align: alignOf(column) },
      ...(isDouble ? [{ label: hasInterval ? INTERVAL : "", align: "left" as const }] : []),
    ]),
    rows: rows.map(({ row, ...title }) => ({
      ...title,
      cells: shown.flatMap(({ column: { format }, at, isDouble }) => [
        written(row[at], format),
        ...(isDouble ? [besideOf(measuredOf(row[at]), format)] : []),
      ]),
    })),
  };
}

function measuredOf(cell: Cell): Measured | null {
  return typeof cell === "object" && cell !== null && "value" in cell ? cell : null;
}

/** A cell's value. */
function written(cell: Cell, format: NumberFormat = String): Inline {
  if (cell === undefined) return "";
  if (cell === null) return ABSENT;
  if (typeof cell === "number") return orAbsent(cell, format);
  if (cell === false || typeof cell === "string") return cell;
  if (isInterval(cell)) return formatInterval(cell, format);
  const measured = measuredOf(cell);
  if (measured === null) return "text" in cell || Array.isArray(cell) ? (cell as Inline) : "";
  const shown = orAbsent(measured.value, format);
  return measured.tone ? { text: shown, style: measured.tone } : shown;
}

/** A measured value's interval and remark. */
function besideOf(cell: Measured | null, format: NumberFormat = String): Inline {
  const { value, interval, remark = null } = cell ?? {};
  const isKnown = value !== null && value !== undefined;
  return [
    interval != null ? formatInterval(interval, format) : isKnown && interval === null && ABSENT,
    plainText(remark) !== "" && [interval != null && " ", remark],
  ];
}

function tableLines(table: Table, width: number): Line[] {
  const lines = (wide: boolean): Line[] => writtenLines(writtenTable(table, wide), width);
  const whole = lines(true);
  const isTooWide = isWiderThan(whole, width);
  // Without room, the intervals of several columns are left out; that of one is what the table is for.
  const measured = writtenTable(table).columns.filter(({ label }) => label === INTERVAL).length;
  const shown = isTooWide && measured > 1 ? lines(false) : whole;
  const own =
    table.inParts === true && isWiderThan(shown, width)
      ? partLines(writtenTable(table, measured <= 1), width)
      : shown;
  return table.titled === true ? [[piece(table.caption, "bold")], ...own] : own;
}

function isWiderThan(lines: readonly Line[], width: number): boolean {
  return lines.some((line) => widthOf(line) > width);
}

function writtenLines({ columns, rows }: WrittenTable, width: number): Line[] {
  if (rows.length === 0) return [];
  const labels = columns.map(({ label }) => pieces(label, "dim"));
  const heads = labels.some((label) => widthOf(label) > 0) ? [labels] : [];
  const cells = rows.map(({ title, cells: own }) =>
    title === undefined ? own.map((cell) => pieces(cell)) : [pieces(title, "bold")],
  );
  return aligned([...heads, ...cells], {
    columns: width,
    aligns: columns.map(({ align }) => align),
  });
}

/** A table's columns in several parts under each other, as many columns in each as fit beside the first. */
function partLines({ columns, rows }: WrittenTable, width: number): Line[] {
  const partOf = (from: number, to: number): WrittenTable => {
    const pick = <T>([first, ...others]: readonly T[]): T[] => [
      ...(first === undefined ? [] : [first]),
      ...others.slice(from, to),
    ];
    return {
      columns: pick(columns),
      rows: rows.map(({ title, cells }) => ({
        title,
        cells: title === undefined ? pick(cells) : cells,
      })),
    };
  };
  const parts: Line[][] = [];
  let from = 0;
  while (from < columns.length - 1) {
    let to = from + 1;
    let part = writtenLines(partOf(from, to), width);
    while (to < columns.length - 1) {
      const more = writtenLines(partOf(from, to + 1), width);
      if (isWiderThan(more, width)) break;
      part = more;
      to += 1;
    }
    parts.push(part);
    from = to;
  }
  return parts.flatMap((part, i) => (i === 0 ? part : [[], ...part]));
}

/** Fewest columns of a last cell that is wrapped. */
const LEAST = 24;

/** Cells under each other, two spaces apart; the text of the last column is wrapped. */
function aligned(
  rows: readonly Line[][],
  { columns, aligns = [] }: { columns: number; aligns?: readonly ("left" | "right")[] },
): Line[] {
  const count = Math.max(...rows.map((row) => row.length));
  // A title of a group is wider than its column.
  const widths = Array.from({ length: count }, (_, i) =>
    Math.max(0, ...rows.map((row) => (row.length === 1 && count > 1 ? 0 : widthOf(row[i] ?? [])))),
  );
  const before = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0);
  return rows.flatMap((row) => {
    const cells = row.slice(0, count - 1).flatMap((cell, i): Piece[] => {
      const space = piece(" ".repeat(Math.max(0, (widths[i] ?? 0) - widthOf(cell))));
      return aligns[i] === "right" ? [space, ...cell, piece("  ")] : [...cell, space, piece("  ")];
    });
    const last = row[count - 1] ?? [];
    if (aligns[count - 1] === "right")
      return [[...cells, piece(" ".repeat((widths[count - 1] ?? 0) - widthOf(last))), ...last]];
    const room = columns - before;
    if (widthOf(last) <= room || room < LEAST) return [[...cells, ...last]];
    return wrap(last, room).map((line, i) => [
      ...(i === 0 ? cells : [piece(" ".repeat(before))]),
      ...line,
    ]);
  });
}
