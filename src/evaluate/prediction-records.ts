import { DataError } from "../base/errors.ts";
import { STDIN } from "../base/files.ts";
import { readJsonl } from "../base/jsonl.ts";
import { readExactJson } from "../base/open-text.ts";
import { quote, z } from "../base/schema.ts";
import { suggest } from "../base/nearest.ts";
import { articleQuestions } from "../data/layouts/squad.ts";
import { readRecords } from "../data/records.ts";

/** A value of a file and its place. */
export type Placed = { value: unknown; where: string };

/** The value of a `.json` file when it is one object; null for JSON lines and arrays. */
export async function jsonObject(path: string): Promise<object | null> {
  if (!JSON_FILE.test(path)) return null;
  const value = await readExactJson(path);
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value : null;
}

const JSON_FILE = /\.json(\.gz)?$/;

/** The records of a file: JSON lines, a JSON array, a table (CSV, TSV, Parquet), or a file as SQuAD publishes it. */
export async function readPlaced(path: string): Promise<Placed[]> {
  const records: Placed[] = [];
  for await (const record of placedRecords(path)) records.push(record);
  return records;
}

/** The first of `readPlaced`; null: none. */
export async function firstPlaced(path: string): Promise<Placed | null> {
  for await (const first of placedRecords(path)) return first;
  return null;
}

async function* placedRecords(path: string): AsyncGenerator<Placed> {
  if (JSON_FILE.test(path)) {
    const values = valuesIn(await readExactJson(path));
    for (const [i, value] of values.entries()) yield { value, where: `${path}: record ${i + 1}` };
  } else if (path === STDIN || /\.([ct]sv|parquet)(\.gz)?$/.test(path)) {
    for await (const { record, where } of readRecords(path)) yield { value: record, where };
  } else {
    for await (const { value, line } of readJsonl(path, { exact: true }))
      yield { value, where: `${path}:${line}` };
  }
}

function valuesIn(file: unknown): unknown[] {
  const list = Array.isArray(file) ? (file as unknown[]) : squadFile.safeParse(file).data?.data;
  return list?.flatMap((value) => articleQuestions(value) ?? [value]) ?? [file];
}

const squadFile = z.object({ data: z.array(z.unknown()) });

/** The value at a dotted path. @throws {DataError} PREDICTIONS_FIELD */
export function fieldAt(record: Placed, field: string): unknown {
  let at = record.value;
  for (const key of field.split(".")) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key))
      throw missingField(record, field, key, at);
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}

function missingField(record: Placed, field: string, key: string, at: unknown): DataError {
  const keys = typeof at === "object" && at !== null ? Object.keys(at).slice(0, 20) : [];
  const whole = key === field ? "" : ` (of the path "${field}")`;
  const hint = keys.length === 0 ? "There are no keys here." : suggest(key, keys);
  const message = `${record.where}: has no field "${key}"${whole}. ${hint} Set the field with --prediction-field, --references-field or --id-field.`;
  return new DataError("PREDICTIONS_FIELD", message);
}

/** PREDICTIONS_FIELD for a value of the wrong type. */
export function wrongType(
  record: Placed,
  field: string,
  value: unknown,
  allowed: string,
): DataError {
  const message = `${record.where}: "${field}" is ${quote(value)}; it must be ${allowed}. Correct the record or choose another field.`;
  return new DataError("PREDICTIONS_FIELD", message);
}

/** @throws {DataError} PREDICTIONS_EMPTY */
export function notEmpty<T>(records: T[], path: string): T[] {
  if (records.length > 0) return records;
  const message = `${path}: has no records to score. Check that the run that wrote it finished.`;
  throw new DataError("PREDICTIONS_EMPTY", message);
}
