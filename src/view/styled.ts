/** Text for a terminal: pieces with a style, wrapped to a width, painted with escape codes only at the end. */
import { displayWidth } from "../base/table.ts";
import { visibleLine, visibleText } from "../base/visible-text.ts";

/** Style of a piece; "plain" is the terminal's own. */
export type Style =
  | "plain"
  | "bold"
  | "dim"
  | "environment"
  | "template"
  | "inserted"
  | "tag"
  | "good"
  | "bad"
  | "note";

export interface Piece {
  text: string;
  style: Style;
}
export type Line = Piece[];

/** Select graphic rendition, ECMA-48 8.3.117: only the 16 colours of the terminal's own palette. */
const CODES: Record<Style, string> = {
  plain: "",
  bold: "1",
  dim: "2",
  environment: "2",
  template: "2;3",
  // The only background: inserted text in the policy's message must be visible.
  inserted: "30;43",
  tag: "1;36",
  good: "1;32",
  bad: "1;31",
  note: "33",
};

/** Data as it is shown: its control characters take the columns of their escapes when lines are wrapped. */
export function piece(text: string, style: Style = "plain"): Piece {
  return { text: visibleText(text), style };
}

/** Columns of a line. */
export function widthOf(line: Line): number {
  return line.reduce((sum, { text }) => sum + displayWidth(text), 0);
}

/** Text whose escape codes are this program's own: the only text that is printed as it is. */
export class Painted {
  readonly text: string;

  constructor(lines: readonly Line[], colours: boolean) {
    this.text = textOf(lines, colours);
  }
}

/** Lines as text. @param colours false: without escape codes. */
export function painted(lines: readonly Line[], colours: boolean): Painted {
  return new Painted(lines, colours);
}

function textOf(lines: readonly Line[], colours: boolean): string {
  return lines
    .map((line) =>
      line
        .map(({ text, style }) => {
          const shown = visibleLine(text);
          const code = CODES[style];
          return colours && code !== "" && shown !== ""
            ? `\u001b[${code}m${shown}\u001b[0m`
            : shown;
        })
        .join("")
        .trimEnd(),
    )
    .join("\n");
}

/**
 * Pieces as lines: broken at line ends and, where a line is longer than a width, after white space, or within a word that is longer than
 * a line.
 */
export function wrap(pieces: readonly Piece[], width: number): Line[] {
  const lines: Line[] = [];
  let line: Line = [];
  let used = 0;
  const close = (): void => {
    // A space at the end of a line could exceed the width.
    const last = line.at(-1);
    if (last !== undefined) last.text = last.text.trimEnd();
    lines.push(line);
    line = [];
    used = 0;
  };
  for (const { text, style } of pieces) {
    for (const [i, row] of text.replaceAll("\t", "  ").split("\n").entries()) {
      if (i > 0) close();
      for (const word of row.match(/\S+\s*|\s+/g) ?? []) {
        if (used > 0 && used + displayWidth(word.trimEnd()) > width) close();
        for (const part of partsOf(word, width)) {
          if (used > 0 && used + displayWidth(part.trimEnd()) > width) close();
          const last = line.at(-1);
          if (last?.style === style) last.text += part;
          else line.push(piece(part, style));
          used += displayWidth(part);
        }
      }
    }
  }
  close();
  return lines;
}

/** A word in parts that each fit a width. */
function partsOf(word: string, width: number): string[] {
  if (displayWidth(word.trimEnd()) <= width) return [word];
  const parts: string[] = [];
  let part = "";
  for (const character of word) {
    if (displayWidth(part + character) > width) {
      parts.push(part);
      part = "";
    }
    part += character;
  }
  return [...parts, part];
}

/** Two texts beside each other. @param width of the left one. */
export function beside(left: readonly Line[], right: readonly Line[], width: number): Line[] {
  return Array.from({ length: Math.max(left.length, right.length) }, (_, i) => {
    const own = left[i] ?? [];
    const space = " ".repeat(Math.max(0, width - widthOf(own)));
    return [...own, piece(space), piece(" │ ", "dim"), ...(right[i] ?? [])];
  });
}
