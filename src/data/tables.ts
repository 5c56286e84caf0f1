import { Readable, pipeline } from "node:stream";
import { CsvError, parse } from "csv-parse";
import { DataError } from "../base/errors.ts";
import { NOT_TEXT, fileFormat } from "../base/foreign-file.ts";
import { quote } from "../base/schema.ts";
import { type JsonRecord, RECORD_ADVICE } from "./layouts/layout.ts";

/** Separators of cells: a CSV file of a German or French program has semicolons. */
const SEPARATORS = [",", ";", "\t", "|"] as const;

/**
 * The rows of a CSV or TSV table as records, with the first row as keys; every value is text. Cells may be in double quotes, doubled
 * inside, and then contain separators and line breaks. Lines end in LF, CR LF or CR. Streamed.
 *
 * A first row of data is read where it is certain: a question and a list of its answers (DPR's files).
 *
 * @param path for messages; a table is separated by tabs if its first row has one, else by the most frequent separator there.
 * @throws {DataError} DATA_BAD_RECORD for a row with another number of cells, for a first row that looks like data, for two columns of
 *   one name, for a quote that does not close, and for bytes that are not text.
 */
export async function* tableRecords(
  chunks: AsyncIterable<Uint8Array>,
  path: string,
  onBad?: (error: DataError) => void,
): AsyncGenerator<{ record: JsonRecord; line: number }> {
  let names: readonly string[] | null = null;
  for await (const { cells, line } of rows(decoded(chunks, path), path)) {
    if (names === null) {
      names = isQuestionWithAnswers(cells) ? DPR_COLUMNS : columnNames(cells, `${path}:${line}`);
      if (names !== DPR_COLUMNS) continue;
    }
    if (cells.length === names.length) {
      yield { record: Object.fromEntries(names.map((name, i) => [name, cells[i] ?? ""])), line };
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

async function* rows(
  texts: AsyncGenerator<string>,
  path: string,
): AsyncGenerator<{ cells: string[]; line: number }> {
  const { start, all } = await withFirstLine(texts);
  const parser = parse({
    delimiter: /\.tsv(\.gz)?$/.test(path) ? "\t" : separatorOf(start),
    record_delimiter: /\r\n|\n|\r/.exec(start)?.[0] === "\r" ? "\r" : ["\r\n", "\n"],
    info: true,
    relax_quotes: true,
    relax_column_count: true,
    skip_empty_lines: true,
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

/** The texts as far as a character behind the first line break, and all texts. */
async function withFirstLine(
  texts: AsyncGenerator<string>,
): Promise<{ start: string; all: AsyncIterable<string> }> {
  let start = "";
  for (let next = await texts.next(); next.done !== true; next = await texts.next()) {
    start += next.value;
    if (/[\r\n][^]/.test(start)) break;
  }
  async function* all(): AsyncGenerator<string> {
    yield start;
    yield* texts;
  }
  return { start, all: all() };
}

function separatorOf(start: string): string {
  const header = (start.split(/[\r\n]/, 1)[0] ?? "").replaceAll(/"[^"]*"/g, "");
  if (header.includes("\t")) return "\t";
  const counts = SEPARATORS.map((separator) => header.split(separator).length);
  return SEPARATORS[counts.indexOf(Math.max(...counts))] ?? ",";
}

const LIST = /^\s*\[\s*['"].*\]\s*$/s;
const DPR_COLUMNS: readonly string[] = ["question", "answers"];

function isQuestionWithAnswers([question = "", answers = "", ...more]: readonly string[]): boolean {
  return more.length === 0 && !LIST.test(question) && LIST.test(answers);
}

/** Longest name of a column. */
const NAME_LENGTH = 80;

function columnNames(cells: readonly string[], where: string): string[] {
  const names = cells.map((cell) => cell.trim());
  const data = names.find(
    (name) => /\?$/.test(name) || name.length > NAME_LENGTH || LIST.test(name),
  );
  if (data !== undefined)
    throw new DataError(
      "DATA_BAD_RECORD",
      `${where}: the first row looks like data, not like names of columns: ${quote(data)}. Put a row of names before it, such as question and answer.`,
    );
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice === undefined) return names;
  throw new DataError(
    "DATA_BAD_RECORD",
    `${where}: two columns have the name "${twice}". The first row must name each column; rename one of them.`,
  );
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
    if (text.includes("\0"))
      throw fileFormat(
        `${path}: at or after line ${line}`,
        "has NUL bytes",
        "Export it again, as UTF-8.",
      );
    yield text;
    line += text.split("\n").length - 1;
  }
  yield decode();
}
