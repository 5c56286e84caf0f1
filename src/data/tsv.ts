import { DataError } from "../base/errors.ts";
import { NOT_TEXT } from "../base/text-lines.ts";
import type { JsonRecord } from "./layouts/layout.ts";

/**
 * The rows of a table with tabs between its cells, as records under the names of its first row; every value is text. Cells may
 * stand in double quotes, doubled within (as pandas writes them), and then hold tabs and line breaks. Streamed.
 *
 * @param path for messages.
 * @throws {DataError} DATA_BAD_RECORD for a row with another number of cells, and for bytes that are no text.
 */
export async function* tsvRecords(
  chunks: AsyncIterable<Uint8Array>,
  path: string,
  onBad?: (error: DataError) => void,
): AsyncGenerator<{ record: JsonRecord; line: number }> {
  let names: string[] | null = null;
  for await (const { cells, line } of rows(chunks, path)) {
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
  path: string,
): AsyncGenerator<{ cells: string[]; line: number }> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let [rest, line] = ["", 1];
  const decoded = (chunk: Uint8Array | undefined): string => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch (error) {
      const where = `${path}: at or behind line ${line}`;
      throw new DataError("DATA_BAD_RECORD", `${where}: ${NOT_TEXT}.`, { cause: error });
    }
  };
  for await (const chunk of chunks) {
    rest += decoded(chunk);
    for (let row = firstRow(rest); row !== null; row = firstRow(rest)) {
      const text = rest.slice(0, row.end);
      if (text.trim() !== "") yield { cells: row.cells, line };
      line += text.split("\n").length;
      rest = rest.slice(row.end + 1);
    }
  }
  rest += decoded(undefined);
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
