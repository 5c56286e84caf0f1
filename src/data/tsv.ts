import { DataError } from "../base/errors.ts";
import type { JsonRecord } from "./layouts/record.ts";

/**
 * The rows of a table with tabs between its cells, as records under the names of its first row; every value is text. Cells may
 * stand in double quotes, doubled within (as pandas writes them), and then hold tabs and line breaks. Streamed.
 *
 * @param path for messages.
 * @throws {DataError} DATA_BAD_RECORD for a row with another number of cells.
 */
export async function* tsvRecords(
  chunks: AsyncIterable<Uint8Array>,
  path: string,
  onBad?: (error: DataError) => void,
): AsyncGenerator<{ record: JsonRecord; line: number }> {
  let names: string[] | null = null;
  for await (const { cells, line } of rows(chunks)) {
    if (names === null) {
      names = cells;
      continue;
    }
    if (cells.length !== names.length) {
      const bad = new DataError(
        "DATA_BAD_RECORD",
        `${path}:${line}: holds ${cells.length} cells; the first row names ${names.length}. Mend or drop the row.`,
      );
      if (onBad === undefined) throw bad;
      onBad(bad);
      continue;
    }
    yield { record: Object.fromEntries(names.map((name, i) => [name, cells[i] ?? ""])), line };
  }
}

/** `line` is that on which the row begins. */
async function* rows(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<{ cells: string[]; line: number }> {
  const decoder = new TextDecoder();
  let [rest, line] = ["", 1];
  for await (const chunk of chunks) {
    rest += decoder.decode(chunk, { stream: true });
    for (let row = firstRow(rest); row !== null; row = firstRow(rest)) {
      const text = rest.slice(0, row.end);
      if (text.trim() !== "") yield { cells: row.cells, line };
      line += text.split("\n").length;
      rest = rest.slice(row.end + 1);
    }
  }
  if (rest.trim() === "") return;
  // A quote that never ends is taken as it stands.
  yield { cells: firstRow(`${rest}\n`)?.cells ?? rest.split("\t"), line };
}

const BARE = /[^\t\n]*/y;
const QUOTED = /(?:[^"]|"")*/y;

/** The cells up to the first line break outside quotes, and where that is; null when the text ends before. */
function firstRow(text: string): { cells: string[]; end: number } | null {
  const cells: string[] = [];
  for (let at = 0; ; at += 1) {
    let cell = "";
    if (text[at] === '"') {
      QUOTED.lastIndex = at + 1;
      cell = (QUOTED.exec(text)?.[0] ?? "").replaceAll('""', '"');
      at = QUOTED.lastIndex + 1;
    }
    BARE.lastIndex = at;
    cell += BARE.exec(text)?.[0] ?? "";
    at = Math.max(at, BARE.lastIndex);
    if (at >= text.length) return null;
    const isLast = text[at] === "\n";
    cells.push(isLast ? cell.replace(/\r$/, "") : cell);
    if (isLast) return { cells, end: at };
  }
}
