import { DataError } from "../base/errors.ts";
import { NOT_TEXT } from "../base/text-lines.ts";
import type { JsonRecord } from "./layouts/layout.ts";

/**
 * The rows of a tab-separated table as records, with the first row as keys; every value is text. Cells may
 * be in double quotes, doubled inside (as pandas writes them), and then contain tabs and line breaks. Streamed.
 *
 * @param path for messages.
 * @throws {DataError} DATA_BAD_RECORD for a row with a different number of cells, and for bytes that are not text.
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
        `${path}:${line}: has ${cells.length} cells, but the first row has ${names.length}. Correct or remove the row.`,
      );
      if (onBad === undefined) throw bad;
      onBad(bad);
      continue;
    }
    yield { record: Object.fromEntries(names.map((name, i) => [name, cells[i] ?? ""])), line };
  }
}

/** `line` is the row's first line. */
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
      const where = `${path}: at or after line ${line}`;
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
  // An unclosed quote is literal.
  yield { cells: firstRow(`${rest}\n`)?.cells ?? rest.split("\t"), line };
}

const BARE = /[^\t\n]*/y;
const QUOTED = /(?:[^"]|"")*/y;

/** The cells up to the first unquoted line break, and its position; null when the text ends before it. */
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
