import { relative } from "node:path";
import { isUtf8 } from "node:buffer";
import { DataError, errorMessage } from "../base/errors.ts";
import { STDIN } from "../base/files.ts";
import { readJsonl } from "../base/jsonl.ts";
import { openText } from "../base/open-text.ts";
import { quote } from "../base/schema.ts";
import { dataSource } from "./data-folder.ts";
import { badRecord, type JsonRecord } from "./layouts/layout.ts";
import { articleQuestions } from "./layouts/squad.ts";
import { readDocument } from "./documents.ts";
import { cutText } from "./text-folder.ts";
import { NOT_TEXT } from "../base/foreign-file.ts";
import { parseExact } from "../base/exact-json.ts";

export interface PlacedRecord {
  record: JsonRecord;
  /** `file:line`, or `file: record n` in a JSON array or Parquet file. */
  where: string;
  /** From 1. */
  number: number;
}

type OnBad = ((error: DataError) => void) | undefined;

interface PlacedValue {
  value: unknown;
  where: string;
}

/**
 * The records of a data file, streamed: JSON lines; one JSON array, alone or in an object (`{"data": […]}`); the rows of a CSV or
 * TSV table or of a Parquet file; all also compressed by gzip; stdin's form by its content. Of a folder: the rows of its split, or the passages of its text files
 * (see `dataSource`).
 *
 * @param options.onBad receives the error of each line or element that is not a record, and reading continues.
 * @throws {DataError} FILE_MISSING, FILE_FORMAT, FILE_DAMAGED, FILE_NOT_JSON, FILE_NOT_PARQUET, DATA_FOLDER_UNCLEAR; without `onBad` also JSONL_BAD_LINE,
 *   DATA_BAD_RECORD.
 */
export async function* readRecords(
  path: string,
  options: { onBad?: (error: DataError) => void } = {},
): AsyncGenerator<PlacedRecord> {
  const { onBad } = options;
  const source = await dataSource(path);
  let number = 0;
  for (const file of source.files) {
    const values =
      source.kind === "texts" ? passagesOf(file, source.folder) : valuesOf(file, onBad);
    for await (const { value, where } of values) {
      number += 1;
      if (typeof value === "object" && value !== null && !Array.isArray(value)) {
        yield { record: value as JsonRecord, where, number };
        continue;
      }
      const bad = badRecord(`${where}: is ${quote(value)}; expected a JSON object.`);
      if (onBad === undefined) throw bad;
      onBad(bad);
    }
  }
}

async function* passagesOf(file: string, folder: string): AsyncGenerator<PlacedValue> {
  const name = relative(folder, file).replaceAll("\\", "/");
  for (const value of cutText(name, await readDocument(file))) yield { value, where: file };
}

async function* valuesOf(path: string, onBad: OnBad): AsyncGenerator<PlacedValue> {
  if (/\.parquet(\.gz)?$/.test(path)) {
    // The libraries of tables are loaded only for tables.
    const { parquetRecords } = await import("./parquet.ts");
    let number = 0;
    for await (const value of parquetRecords(path))
      yield { value, where: `${path}: record ${(number += 1)}` };
    return;
  }
  const start = /\.[ct]sv(\.gz)?$/.test(path) ? null : await beginning(path);
  if (start === null || (path === STDIN && isTable(start))) {
    const { tableRecords } = await import("./tables.ts");
    for await (const { record, line } of tableRecords(openText(path), path, onBad))
      yield { value: record, where: `${path}:${line}` };
    return;
  }
  if (isList(start)) {
    for await (const { value, number } of jsonElements(openText(path), path))
      yield* questionsOf(value, `${path}: record ${number}`);
    return;
  }
  for await (const { value, line } of readJsonl(path, { exact: true, onBadLine: onBad }))
    yield { value, where: `${path}:${line}` };
}

/** An element of a list, or its questions: SQuAD's files nest them in articles. */
function* questionsOf(value: unknown, where: string): Generator<PlacedValue> {
  const questions = articleQuestions(value);
  if (questions === null) yield { value, where };
  else
    for (const [i, question] of questions.entries())
      yield { value: question, where: `${where}, question ${i + 1}` };
}

/** Keys under which one object holds all rows of a file, with other keys behind it (TriviaQA: `Data`), or a version before it (SQuAD 2.0). */
const ROWS =
  /^\{\s*(?:"version"\s*:\s*"[^"]*"\s*,\s*)?"(data|rows|records|examples|items|questions|passages|documents)"\s*:\s*\[\s*\{/i;

/** Whether text without a file name is a table: no JSON, and several columns in its first line. */
function isTable(start: string): boolean {
  return !/^[[{]/.test(start) && /^[^\n]*[,;\t|]/.test(start);
}

function isList(start: string): boolean {
  return start.startsWith("[") || ROWS.test(start);
}

async function beginning(path: string): Promise<string> {
  let text = "";
  for await (const chunk of openText(path)) {
    text += chunk.toString("utf8", 0, 256);
    text = text.replace(/^\uFEFF/, "").trimStart();
    if (text.length > 64) break;
  }
  return text;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const [ARRAY_OPEN, ARRAY_CLOSE, OBJECT_OPEN, OBJECT_CLOSE] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * The elements of one JSON array, streamed: published files exceed Node's maximum string length. Ignores everything
 * before the first `[`, and what follows in an object whose first value the array is, as in TriviaQA's files.
 *
 * @param path for messages.
 * @throws {DataError} FILE_NOT_JSON with the element's number; the rest of the file may be invalid too.
 */
export async function* jsonElements(
  chunks: AsyncIterable<Uint8Array>,
  path: string,
): AsyncGenerator<{ value: unknown; number: number }> {
  const scan = new ElementScan();
  let number = 0;
  for await (const chunk of chunks) {
    for (const bytes of scan.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length))) {
      number += 1;
      yield { value: parsed(bytes, `${path}: record ${number}`), number };
    }
    if (scan.isDone) break;
  }
  if (scan.after !== "") {
    const found = JSON.stringify(scan.after);
    throw notJson(`${path}: after record ${number}`, `the list has ended, but ${found} follows`);
  }
  if (scan.ended) return;
  throw notJson(`${path}: record ${number + 1}`, "the file ends inside its list");
}

function parsed(bytes: Buffer, where: string): unknown {
  const text = bytes.toString("utf8");
  if (text.includes("\uFFFD") && !isUtf8(bytes)) throw notJson(where, NOT_TEXT);
  try {
    return parseExact(text);
  } catch (error) {
    throw notJson(where, errorMessage(error), error);
  }
}

function notJson(where: string, problem: string, cause?: unknown): DataError {
  return new DataError("FILE_NOT_JSON", `${where}: is not JSON (${problem}).`, { cause });
}

/** Splits the bytes of an array at the commas between its elements. */
class ElementScan {
  ended = false;
  /** The first character after the end of a top-level array. */
  after = "";
  #isWithinObject = false;
  /** Ignore everything that follows. */
  get isDone(): boolean {
    return this.ended && (this.#isWithinObject || this.after !== "");
  }
  /** Bracket depth within the array; -1 before it. */
  #depth = -1;
  #inText = false;
  /** Bytes of an unfinished element from earlier chunks. */
  #held: Buffer[] = [];

  /** Yields the elements that this chunk completes. */
  *push(chunk: Buffer): Generator<Buffer> {
    let start = 0;
    let i = 0;
    while (i < chunk.length && !this.ended) {
      if (this.#inText) {
        i = this.#endOfText(chunk, i);
        continue;
      }
      const byte = chunk[i];
      if (this.#depth === -1) {
        // The envelope's key contains no bracket.
        if (byte === ARRAY_OPEN) [this.#depth, start] = [0, i + 1];
        else if (byte === OBJECT_OPEN) this.#isWithinObject = true;
      } else if (byte === QUOTE) this.#inText = true;
      else if (byte === ARRAY_OPEN || byte === OBJECT_OPEN) this.#depth += 1;
      else if ((byte === ARRAY_CLOSE || byte === OBJECT_CLOSE) && this.#depth > 0) this.#depth -= 1;
      else if (this.#depth === 0 && (byte === COMMA || byte === ARRAY_CLOSE)) {
        const bytes = this.#take(chunk.subarray(start, i));
        this.ended = byte === ARRAY_CLOSE;
        // An empty list is valid; the parser reports an empty place between commas.
        if (!this.ended || !isBlank(bytes)) yield bytes;
        start = i + 1;
      }
      i += 1;
    }
    if (this.ended && !this.#isWithinObject)
      this.after ||= chunk.toString("utf8", i).trim().slice(0, 20);
    if (this.#depth >= 0 && !this.ended) this.#held.push(Buffer.from(chunk.subarray(start)));
  }

  /** Index after the closing quote, or the chunk's length when the text continues. */
  #endOfText(chunk: Buffer, from: number): number {
    for (let at = from; ;) {
      const quote = chunk.indexOf(QUOTE, at);
      if (quote === -1) return chunk.length;
      if (!this.#isEscaped(chunk, quote)) {
        this.#inText = false;
        return quote + 1;
      }
      at = quote + 1;
    }
  }

  /** Whether an odd number of backslashes precedes a quote, possibly in an earlier chunk. */
  #isEscaped(chunk: Buffer, quote: number): boolean {
    let count = 0;
    for (const piece of [chunk.subarray(0, quote), ...this.#held.toReversed()]) {
      let at = piece.length - 1;
      while (at >= 0 && piece[at] === BACKSLASH) at -= 1;
      count += piece.length - 1 - at;
      if (at >= 0) break;
    }
    return count % 2 === 1;
  }

  #take(last: Buffer): Buffer {
    const bytes = Buffer.concat([...this.#held, last]);
    this.#held = [];
    return bytes;
  }
}

function isBlank(bytes: Buffer): boolean {
  return bytes.toString("utf8").trim() === "";
}
