/** How `table` lays out its columns. */
export interface TableOptions {
  /** One title per column, above the rows. */
  head?: readonly string[];
  /** Per column; numbers read best on the right. Left where not given. */
  align?: readonly ("left" | "right")[];
  /** Spaces before each line. */
  indent?: number;
}

/**
 * Rows as aligned text, columns two spaces apart, no trailing spaces, no final newline.
 *
 * @param rows cells as text; a short row leaves its last columns empty.
 * @example table([["em", "0.5"], ["searches", "12.0"]], { align: ["left", "right"] })
 * // em         0.5
 * // searches  12.0
 */
export function table(rows: readonly (readonly string[])[], options: TableOptions = {}): string {
  const { head, align = [], indent = 0 } = options;
  const lines = head === undefined ? rows : [head, ...rows];
  const columns = Math.max(0, ...lines.map((line) => line.length));
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...lines.map((line) => displayWidth(line[column] ?? ""))),
  );
  return lines
    .map((line) => {
      const cells = widths.map((width, column) => {
        const cell = line[column] ?? "";
        const space = " ".repeat(width - displayWidth(cell));
        return align[column] === "right" ? space + cell : cell + space;
      });
      return (" ".repeat(indent) + cells.join("  ")).trimEnd();
    })
    .join("\n");
}

/**
 * The same as a Markdown table; `indent` does not apply.
 * @example markdownTable([["em", "0.5"]], { head: ["", "mean"], align: ["left", "right"] })
 * // |  | mean |
 * // | :-- | --: |
 * // | em | 0.5 |
 */
export function markdownTable(
  rows: readonly (readonly string[])[],
  { head = [], align = [] }: TableOptions,
): string {
  const columns = Math.max(head.length, ...rows.map((row) => row.length));
  const line = (cells: readonly string[]): string =>
    `| ${Array.from({ length: columns }, (_, i) => (cells[i] ?? "").replaceAll("|", "\\|")).join(" | ")} |`;
  const rule = Array.from({ length: columns }, (_, i) => (align[i] === "right" ? "--:" : ":--"));
  return [line(head), line(rule), ...rows.map(line)].join("\n");
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
