import type { DataError } from "../base/errors.ts";
import { openUnpacked, requireFile, unreadable } from "../base/files.ts";
import { readJsonl } from "../base/jsonl.ts";
import { quote } from "../base/schema.ts";
import { jsonElements } from "./json-elements.ts";
import { badRecord, type JsonRecord } from "./layouts/layout.ts";
import { tsvRecords } from "./tsv.ts";

/** One record of a data file. */
export interface PlacedRecord {
  record: JsonRecord;
  /** `file:line`, or `file: record n` in a JSON array. */
  where: string;
  /** From 1. */
  number: number;
}

/**
 * The JSON objects of a data file, streamed: JSON lines; one JSON array, alone or as `Data` of an object (TriviaQA); or the
 * rows of a `.tsv`. Also `.gz`.
 *
 * @param options.onBad receives the error of each line or element that is not a JSON object, and reading continues.
 * @throws {DataError} FILE_MISSING, FILE_NOT_JSON; without `onBad` also JSONL_BAD_LINE, DATA_BAD_RECORD.
 */
export async function* readRecords(
  path: string,
  options: { onBad?: (error: DataError) => void } = {},
): AsyncGenerator<PlacedRecord> {
  const { onBad } = options;
  await requireFile(path);
  const isTable = /\.tsv(\.gz)?$/.test(path);
  if (!isTable && !/^(\[|\{\s*"Data"\s*:\s*\[)/.test(await beginning(path))) {
    yield* lines(path, onBad);
    return;
  }
  const bytes = openUnpacked(path);
  let number = 0;
  try {
    if (isTable) {
      for await (const { record, line } of tsvRecords(bytes, path, onBad)) {
        yield { record, where: `${path}:${line}`, number: (number += 1) };
      }
      return;
    }
    for await (const { value, number } of jsonElements(bytes, path)) {
      yield* placed(value, `${path}: record ${number}`, number, onBad);
    }
  } catch (error) {
    throw isSystemError(error) ? unreadable(path, error) : error;
  } finally {
    bytes.destroy();
  }
}

async function* lines(
  path: string,
  onBad: ((error: DataError) => void) | undefined,
): AsyncGenerator<PlacedRecord> {
  let number = 0;
  const options = onBad === undefined ? {} : { onBadLine: onBad };
  for await (const { value, line } of readJsonl(path, options)) {
    number += 1;
    yield* placed(value, `${path}:${line}`, number, onBad);
  }
}

function* placed(
  value: unknown,
  where: string,
  number: number,
  onBad: ((error: DataError) => void) | undefined,
): Generator<PlacedRecord> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    yield { record: value as JsonRecord, where, number };
    return;
  }
  const bad = badRecord(`${where}: is ${quote(value)}; expected a JSON object.`);
  if (onBad === undefined) throw bad;
  onBad(bad);
}

/** The first non-blank characters of a file. */
async function beginning(path: string): Promise<string> {
  try {
    let text = "";
    for await (const chunk of openUnpacked(path)) {
      text += (chunk as Buffer).toString("utf8", 0, 256);
      text = text.replace(/^\uFEFF/, "").trimStart();
      if (text.length > 64) break;
    }
    return text;
  } catch (error) {
    throw unreadable(path, error);
  }
}

/** An error of the file or of decompression; not one that a caller throws into a generator. */
function isSystemError(error: unknown): boolean {
  return error instanceof Error && "code" in error && "errno" in error;
}
