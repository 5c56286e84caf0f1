import { relative } from "node:path";
import type { DataError } from "../base/errors.ts";
import { STDIN } from "../base/files.ts";
import { readJsonl } from "../base/jsonl.ts";
import { openText } from "../base/open-text.ts";
import { quote } from "../base/schema.ts";
import { dataSource } from "./data-folder.ts";
import { jsonElements } from "./json-elements.ts";
import { badRecord, type JsonRecord } from "./layouts/layout.ts";
import { articleQuestions } from "./layouts/squad.ts";
import { readDocument } from "./documents.ts";
import { cutText } from "./text-folder.ts";

export interface PlacedRecord {
  record: JsonRecord;
  /** `file:line`, or `file: record n` in a JSON array or Parquet file. */
  where: string;
  /** From 1. */
  number: number;
}

type OnBad = ((error: DataError) => void) | undefined;

/** A value of a file, which may be no record. */
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

/** The first non-blank characters of a file. */
async function beginning(path: string): Promise<string> {
  let text = "";
  for await (const chunk of openText(path)) {
    text += chunk.toString("utf8", 0, 256);
    text = text.replace(/^\uFEFF/, "").trimStart();
    if (text.length > 64) break;
  }
  return text;
}
