import { open } from "node:fs/promises";
import { DataError, errorMessage } from "../base/errors.ts";
import { readJson } from "../base/files.ts";
import { readJsonl } from "../base/jsonl.ts";
import { quote } from "../base/schema.ts";
import { badRecord, type JsonRecord } from "./layouts/record.ts";

/** One record of a data file. */
export interface PlacedRecord {
  record: JsonRecord;
  /** `file:line`, or `file: record n` in a JSON array. */
  where: string;
  /** From 1. */
  number: number;
}

/**
 * The JSON objects of a data file: JSON lines, `.gz` or not, streamed; or one JSON array, read whole.
 *
 * @param options.onBad is told of each line or element that is no JSON object, and reading goes on.
 * @throws {DataError} FILE_MISSING, FILE_NOT_JSON; without `onBad` also JSONL_BAD_LINE, DATA_BAD_RECORD.
 */
export async function* readRecords(
  path: string,
  options: { onBad?: (error: DataError) => void } = {},
): AsyncGenerator<PlacedRecord> {
  const { onBad } = options;
  if (!path.endsWith(".gz") && (await firstCharacter(path)) === "[") {
    const all = await readJson(path);
    for (const [i, value] of (Array.isArray(all) ? all : [all]).entries()) {
      yield* placed(value, `${path}: record ${i + 1}`, i + 1, onBad);
    }
    return;
  }
  let number = 0;
  for await (const { value, line } of readJsonl(
    path,
    onBad === undefined ? {} : { onBadLine: onBad },
  )) {
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

async function firstCharacter(path: string): Promise<string> {
  try {
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(256) });
      return buffer
        .toString("utf8", 0, bytesRead)
        .replace(/^\uFEFF/, "")
        .trimStart()
        .charAt(0);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new DataError("FILE_MISSING", `${path}: cannot be read (${errorMessage(error)}).`, {
      cause: error,
    });
  }
}
