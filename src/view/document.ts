/**
 * What reports, pages and texts show, without how it is drawn: a document is built once, and three pens draw it: terminal.ts, markdown.ts
 * and html/draw.ts.
 */
import type { NumberFormat } from "../base/format.ts";
import type { Interval } from "../evaluate/statistics.ts";
import type { CurveFrame, StepMark } from "./charts/curve.ts";
import type { Axis, DotWhisker } from "./charts/marks.ts";
import type { DrawnPanel } from "./runs/drawn-panels.ts";
import type { RunPart } from "./runs/run-parts.ts";
import type { ItemSpec, ViewerItem } from "./viewer/embed.ts";

/** Text in a line. null and false are nothing. */
export type Inline = string | Styled | readonly Inline[] | null | false;

/** Text with a style; each pen draws it its way. */
export interface Styled {
  text: Inline;
  style: "strong" | "small" | "code" | "badge" | "good" | "bad" | "note" | "trouble" | "plain";
  /** Index of the colour of what it names: an arm, a result. */
  series?: number;
  /** Address in a page. */
  href?: string;
  /** Small print of a page that other pens leave out. */
  hint?: string;
  /** Values that the page's filter reads. */
  data?: Readonly<Record<string, string>>;
}

/** A large number, or a word, that answers the question of a document. */
export interface Figure {
  /** Whose it is, if there are several. */
  name: Inline;
  series?: number;
  value: number | string | null;
  format?: NumberFormat;
  tone?: "good" | "bad";
  label: Inline;
  /** Interval, change, number of questions: a line each. */
  details: readonly Inline[];
}

/** A number with its 95 % interval, and a remark in small print. */
export interface Measured {
  value: number | null | undefined;
  interval?: Interval | null;
  remark?: Inline;
  tone?: "good" | "bad" | null;
}

/** A small drawing in a cell, which only pages have. */
export type Mark =
  | { dots: readonly DotWhisker[] }
  | { share: number; series: number }
  | { yield: { in: number; out: number } };

/** undefined: empty; null: not measured; a number, interval or measured value is in the format of its column. */
export type Cell = Inline | undefined | number | Interval | Measured | Mark;

export interface Column {
  label: Inline;
  format?: NumberFormat;
  align?: "left" | "right";
  /** A page's class for its cells. */
  className?: string;
  /** The axis of the drawings below it. Only pages have the column. */
  axis?: Axis;
  /** Only pages have the column: its cells are drawings, or repeat what the others say. */
  drawn?: true;
}

/** Rows of one group. */
export interface RowGroup {
  title?: Inline;
  /** Heading beside all of its rows, instead of their first cell. */
  side?: Inline;
  rows: readonly (readonly Cell[])[];
}

export interface Table {
  kind: "table";
  caption: string;
  /** Whether the caption is shown. */
  titled?: true;
  /** A page's class; default "plain". */
  className?: string;
  /** A terminal without room for all columns shows them in several parts, each with the first column. */
  inParts?: true;
  /** None: rows of a label and its values, without a heading. */
  columns: readonly (Column | string)[];
  groups: readonly RowGroup[];
}

export type Block =
  | Table
  | {
      kind: "heading";
      text: Inline;
      /** 1: a section, 2: a part of it; default 3. */ level?: 1 | 2;
    }
  /** A paragraph; a note is small print, a warning must be seen. */
  | { kind: "text" | "note"; text: Inline }
  | { kind: "warning"; text: Inline; table?: Table }
  | { kind: "list"; items: readonly Inline[] }
  | { kind: "facts"; facts: readonly (readonly [label: string, value: Inline])[] }
  | { kind: "figures"; figures: readonly Figure[] }
  /** All curves of runs, with controls in a page. */
  | { kind: "curves"; parts: readonly RunPart[] }
  /** One panel of curves. */
  | { kind: "curve"; panel: DrawnPanel; remark: string; frame: CurveFrame; marks?: StepMark[] }
  /** Details that a page folds and a terminal leaves out. @property drawn only pages have them. */
  | { kind: "fold"; title: string; drawn?: true; blocks: readonly Block[] }
  /** Blocks beside each other, or under one address of a page. */
  | {
      kind: "group";
      className: string;
      id?: string;
      data?: Styled["data"];
      blocks: readonly Block[];
    }
  | {
      kind: "filter";
      choices: readonly (readonly [id: string, label: string, values: string[]])[];
      count: string;
    }
  /** A command to copy. */
  | { kind: "command"; does: string; command: string };

export interface Section {
  /** Address in a page. */
  id: string;
  title: string;
  note?: string | null;
  blocks: readonly Block[];
}

export interface Document {
  /** "evaluation", "runs", … */
  kind: string;
  title: string;
  /** A line for each reported thing. */
  lead: readonly Inline[];
  /** Before everything else. */
  warnings?: readonly Block[];
  sections: readonly Section[];
  /** Trajectories to browse, in a page. */
  viewer: {
    id: string;
    title: string;
    note?: string | null;
    spec: ItemSpec;
    items: AsyncIterable<ViewerItem>;
  } | null;
}

/** Where a report comes from. */
export interface Made {
  version: string;
  /** Day: `2026-11-22`. */
  date: string;
  command: string;
}

export function strong(text: Inline): Styled {
  return { text, style: "strong" };
}

export function small(...text: Inline[]): Styled {
  return { text, style: "small" };
}

export function code(text: string): Styled {
  return { text, style: "code" };
}

/** A name with the colour of its series. */
export function named(series: number, text: string): Styled {
  return { text, style: "plain", series };
}

export function note(...text: Inline[]): Block {
  return { kind: "note", text };
}

export function heading(...text: Inline[]): Block {
  return { kind: "heading", text };
}

export function table(
  caption: string,
  columns: Table["columns"],
  rows: RowGroup["rows"],
  className?: string,
): Table {
  return { kind: "table", caption, className, columns, groups: [{ rows }] };
}

/** Text of a line without styles. */
export function plainText(inline: Inline): string {
  if (inline === null || inline === false) return "";
  if (typeof inline === "string") return inline;
  return "text" in inline ? plainText(inline.text) : inline.map(plainText).join("");
}
