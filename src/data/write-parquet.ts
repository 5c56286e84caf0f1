import { createHash } from "node:crypto";
import type { SchemaElement } from "hyparquet";
import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import { DataError } from "../base/errors.ts";
import { writeAtomic } from "../base/files.ts";
import type { WrittenFile } from "./write-jsonl.ts";

type Rows = Iterable<object> | AsyncIterable<object>;

/** Rows of a row group: the writer holds one in memory. */
const GROUP = 10_000;

/**
 * Writes records as a Parquet file, in bounded memory and atomically. Lists and objects become LIST and struct columns, as pandas and
 * Hugging Face datasets write them; a key that only some records have is null in the others.
 *
 * @param records called twice: the columns are those of all records, so the first pass finds them.
 * @param signal stops between records; no file remains.
 * @throws {DataError} DATA_BAD_RECORD when the values of a key differ in kind.
 * @throws {ExternalError} FILE_WRITE_FAILED
 */
export async function writeParquet(
  path: string,
  records: () => Rows,
  signal?: AbortSignal,
): Promise<WrittenFile> {
  let shape: Shape = { kind: "null" };
  for await (const record of records()) {
    signal?.throwIfAborted();
    shape = merged(shape, shapeOf(record), "");
  }
  const columns = shape.kind === "struct" ? shape.fields : new Map<string, Shape>();
  const kept = [...columns].filter(([, column]) => isStored(column));
  const hash = createHash("sha256");
  const written: WrittenFile = { records: 0, bytes: 0, sha256: "" };
  await writeAtomic(path, async (write) => {
    const buffer = new ByteWriter();
    const parquet = new ParquetWriter({ writer: buffer, schema: schemaOf(columns) });
    const drain = async (): Promise<void> => {
      const bytes = buffer.getBytes().slice();
      buffer.index = 0;
      hash.update(bytes);
      written.bytes += bytes.byteLength;
      await write(bytes);
    };
    let rows: Record<string, unknown>[] = [];
    const flush = async (): Promise<void> => {
      const columnData = kept.map(([name, column]) => ({
        name,
        data: rows.map((row) => stored(row[name], column)),
      }));
      await parquet.write({ columnData, rowGroupSize: GROUP });
      rows = [];
      await drain();
    };
    for await (const record of records()) {
      signal?.throwIfAborted();
      rows.push(record as Record<string, unknown>);
      written.records += 1;
      if (rows.length === GROUP) await flush();
    }
    if (rows.length > 0) await flush();
    await parquet.finish();
    await drain();
  });
  return { ...written, sha256: hash.digest("hex") };
}

type Shape =
  | { kind: "null" | "text" | "boolean" | "integer" | "number" }
  | { kind: "list"; item: Shape }
  | { kind: "struct"; fields: ReadonlyMap<string, Shape> };

function shapeOf(value: unknown): Shape {
  if (value === undefined || value === null) return { kind: "null" };
  if (typeof value === "string") return { kind: "text" };
  if (typeof value === "boolean") return { kind: "boolean" };
  if (typeof value === "number")
    return { kind: Number.isSafeInteger(value) ? "integer" : "number" };
  if (Array.isArray(value)) {
    const items = value.map(shapeOf);
    return { kind: "list", item: items.reduce((a, b) => merged(a, b, "[]"), { kind: "null" }) };
  }
  const fields = Object.entries(value).map(([key, item]) => [key, shapeOf(item)] as const);
  return { kind: "struct", fields: new Map(fields) };
}

function merged(a: Shape, b: Shape, place: string): Shape {
  if (b.kind === "null") return a;
  if (a.kind === "null") return b;
  if (a.kind === "list" && b.kind === "list")
    return { kind: "list", item: merged(a.item, b.item, `${place}[]`) };
  if (a.kind === "struct" && b.kind === "struct") {
    const fields = new Map(a.fields);
    for (const [key, shape] of b.fields) {
      const before = fields.get(key) ?? { kind: "null" };
      fields.set(key, merged(before, shape, place === "" ? key : `${place}.${key}`));
    }
    return { kind: "struct", fields };
  }
  if (a.kind === b.kind) return a;
  const kinds = new Set([a.kind, b.kind]);
  if (kinds.has("integer") && kinds.has("number")) return { kind: "number" };
  throw new DataError(
    "DATA_BAD_RECORD",
    `"${place}" is ${a.kind} in one record and ${b.kind} in another; a Parquet column has one kind. Write JSON lines instead (a name ending in .jsonl).`,
  );
}

/** Parquet has no column without a kind and no struct without fields. */
function isStored(shape: Shape): boolean {
  if (shape.kind === "struct") return [...shape.fields.values()].some(isStored);
  return shape.kind !== "null";
}

/** A value as the writer takes it: 64-bit integers are bigints. */
function stored(value: unknown, shape: Shape): unknown {
  if (value === undefined || value === null || !isStored(shape)) return null;
  if (shape.kind === "integer") return BigInt(value as number);
  if (shape.kind === "list") return (value as unknown[]).map((item) => stored(item, shape.item));
  if (shape.kind !== "struct") return value;
  const fields = value as Record<string, unknown>;
  return Object.fromEntries(
    [...shape.fields].map(([key, field]) => [key, stored(fields[key], field)]),
  );
}

function schemaOf(columns: ReadonlyMap<string, Shape>): SchemaElement[] {
  const elements = fieldElements(columns);
  return [{ name: "root", num_children: storedCount(columns) }, ...elements];
}

function fieldElements(fields: ReadonlyMap<string, Shape>): SchemaElement[] {
  return [...fields].flatMap(([name, shape]) => (isStored(shape) ? elementsOf(name, shape) : []));
}

function storedCount(fields: ReadonlyMap<string, Shape>): number {
  return [...fields.values()].filter(isStored).length;
}

function elementsOf(name: string, shape: Shape): SchemaElement[] {
  const optional = { name, repetition_type: "OPTIONAL" } as const;
  if (shape.kind === "struct")
    return [
      { ...optional, num_children: storedCount(shape.fields) },
      ...fieldElements(shape.fields),
    ];
  if (shape.kind === "list") {
    // A list that is empty in every record is one of texts.
    const item: Shape = isStored(shape.item) ? shape.item : { kind: "text" };
    return [
      { ...optional, num_children: 1, converted_type: "LIST", logical_type: { type: "LIST" } },
      { name: "list", repetition_type: "REPEATED", num_children: 1 },
      ...elementsOf("element", item),
    ];
  }
  if (shape.kind === "boolean") return [{ ...optional, type: "BOOLEAN" }];
  if (shape.kind === "integer") return [{ ...optional, type: "INT64" }];
  if (shape.kind === "number") return [{ ...optional, type: "DOUBLE" }];
  return [
    { ...optional, type: "BYTE_ARRAY", converted_type: "UTF8", logical_type: { type: "STRING" } },
  ];
}
