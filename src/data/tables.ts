import { pipeline, Readable } from "node:stream";
import { CsvError, parse } from "csv-parse";
import { DataError } from "../base/errors.ts";
import { NOT_TEXT } from "../base/text-lines.ts";
import { type JsonRecord, RECORD_ADVICE } from "./layouts/layout.ts";

/** Separators of cells: a CSV file of a German or French program has semicolons. */
const SEPARATORS = [",", ";", "\t", "|"] as const;

/**
 * The rows of a CSV or TSV table as records, with the first row as keys; every value is text, but a cell with a JSON list of texts
 * or numbers is that list. Cells may be in double quotes, doubled inside, and then contain separators and line breaks. Streamed.
 *
 * @param path for messages; a `.tsv` is separated by tabs, any other table by the most frequent separator of its first row.
 * @throws {DataError} DATA_BAD_RECORD for a row with another number of cells, for two columns of one name, for a quote that does not
 *   close, and for bytes that are not text.
 */
export async function* tableRecords(
  chunks: AsyncIterable<Uint8Array>,
  path: string,
  onBad?: (error: DataError) => void,
): AsyncGenerator<{ record: JsonRecord; line: number }> {
  let names: string[] | null = null;
  for await (const { cells, line } of rows(decoded(chunks, path), path)) {
    if (names === null) {
      names = columnNames(cells, `${path}:${line}`);
      continue;
    }
    if (cells.length === names.length) {
      yield {
        record: Object.fromEntries(names.map((name, i) => [name, cellValue(cells[i] ?? "")])),
        line,
      };
      continue;
    }
    const bad = new DataError(
      "DATA_BAD_RECORD",
      `${path}:${line}: has ${cells.length} cells, but the first row has ${names.length}. A cell that contains a separator needs double quotes.${RECORD_ADVICE}`,
    );
    if (onBad === undefined) throw bad;
    onBad(bad);
  }
}

/** `line` is the row's first line. */
async function* rows(
  texts: AsyncGenerator<string>,
  path: string,
): AsyncGenerator<{ cells: string[]; line: number }> {
  const { start, all } = await withFirstLine(texts);
  const parser = parse({
    delimiter: /\.tsv(\.gz)?$/.test(path) ? "\t" : separatorOf(start),
    record_delimiter: ["\r\n", "\n"],
    ...{ info: true, relax_quotes: true, relax_column_count: true, skip_empty_lines: true },
  });
  // Errors of the source reach the reader through the parser.
  pipeline(Readable.from(all), parser, () => undefined);
  try {
    for await (const { record, info } of parser as AsyncIterable<ParsedRow>) {
      const breaks = record.reduce((sum, cell) => sum + cell.split("\n").length - 1, 0);
      yield { cells: record, line: info.lines - breaks };
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw new DataError("DATA_BAD_RECORD", `${path}: ${error.message}.${RECORD_ADVICE}`, {
      cause: error,
    });
  }
}

interface ParsedRow {
  record: string[];
  info: { lines: number };
}

/** The texts as far as the first line break, and all texts. */
async function withFirstLine(
  texts: AsyncGenerator<string>,
): Promise<{ start: string; all: AsyncIterable<string> }> {
  let start = "";
  for (let next = await texts.next(); next.done !== true; next = await texts.next()) {
    start += next.value;
    if (start.includes("\n")) break;
  }
  async function* all(): AsyncGenerator<string> {
    yield start;
    yield* texts;
  }
  return { start, all: all() };
}

function separatorOf(start: string): string {
  const header = (start.split("\n", 1)[0] ?? "").replaceAll(/"[^"]*"/g, "");
  const counts = SEPARATORS.map((separator) => header.split(separator).length);
  return SEPARATORS[counts.indexOf(Math.max(...counts))] ?? ",";
}

function columnNames(cells: readonly string[], where: string): string[] {
  const names = cells.map((cell) => cell.trim());
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice === undefined) return names;
  throw new DataError(
    "DATA_BAD_RECORD",
    `${where}: two columns have the name "${twice}". The first row must name each column; rename one of them.`,
  );
}

/** A list of accepted answers has one cell: a JSON list. */
function cellValue(cell: string): unknown {
  if (!cell.startsWith("[") || !cell.endsWith("]")) return cell;
  try {
    const list: unknown = JSON.parse(cell);
    const isList =
      Array.isArray(list) && list.every((item) => ["string", "number"].includes(typeof item));
    return isList ? list : cell;
  } catch {
    return cell;
  }
}

/** The text of bytes; without a byte-order mark. */
async function* decoded(chunks: AsyncIterable<Uint8Array>, path: string): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let line = 1;
  const decode = (chunk?: Uint8Array): string => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch (error) {
      const where = `${path}: at or after line ${line}`;
      throw new DataError("DATA_BAD_RECORD", `${where}: ${NOT_TEXT}.`, { cause: error });
    }
  };
  for await (const chunk of chunks) {
    const text = decode(chunk);
    yield text;
    line += text.split("\n").length - 1;
  }
  yield decode();
}
