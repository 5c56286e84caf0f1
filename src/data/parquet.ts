import { compressors } from "hyparquet-compressors";
import {
  type AsyncBuffer,
  asyncBufferFromFile,
  type FileMetaData,
  parquetMetadataAsync,
  parquetReadObjects,
  parquetSchema,
  type SchemaTree,
} from "hyparquet";
import { DataError, errorMessage } from "../base/errors.ts";
import { openUnpacked, unreadable } from "../base/files.ts";
import { refuseForeignFile } from "../base/foreign-file.ts";
import type { JsonRecord } from "./layouts/layout.ts";
import { leafOf, parsers } from "./parquet-values.ts";

/**
 * The rows of a Parquet file as JSON objects. Memory grows with the largest row group, and with the file if it is also `.gz`.
 *
 * A null is left out: a Parquet column has one in every row that lacks the key.
 * Different from JSON: decimals, dates, times and what JavaScript's numbers cannot hold become texts, as pandas prints them.
 *
 * @throws {DataError} FILE_NOT_PARQUET, FILE_MISSING; FILE_FORMAT for a Git LFS pointer, an archive and the like; DATA_BAD_RECORD for two columns of one
 *   name.
 */
export async function* parquetRecords(path: string): AsyncGenerator<JsonRecord> {
  try {
    const file = await bufferOf(path);
    const { metadata, read } = exactly(
      await parquetMetadataAsync(file, { geoparquet: false }),
      path,
    );
    const how = { file, metadata, compressors, parsers, utf8: false, geoparquet: false };
    let rowStart = 0;
    for (const { num_rows } of metadata.row_groups) {
      const rowEnd = rowStart + Number(num_rows);
      for (const row of await parquetReadObjects({ ...how, rowStart, rowEnd }))
        yield read(row) as JsonRecord;
      rowStart = rowEnd;
    }
  } catch (error) {
    if (error instanceof DataError) throw error;
    if (error instanceof Error && "errno" in error) throw unreadable(path, error);
    await refuseForeignFile(path, "PAR1");
    throw new DataError(
      "FILE_NOT_PARQUET",
      `${path}: is not a Parquet file, or it is damaged (${errorMessage(error)}).`,
      { cause: error },
    );
  }
}

async function bufferOf(path: string): Promise<AsyncBuffer> {
  if (!path.endsWith(".gz")) return asyncBufferFromFile(path);
  const chunks: Buffer[] = [];
  for await (const chunk of openUnpacked(path)) chunks.push(chunk);
  return new Uint8Array(Buffer.concat(chunks)).buffer;
}

type Read = (value: unknown) => unknown;

/** The metadata with which the library leaves values as they are stored, and how a row of them is read. */
function exactly(metadata: FileMetaData, path: string): { metadata: FileMetaData; read: Read } {
  const leaves = metadata.schema.map((element) =>
    (element.num_children ?? 0) > 0 ? null : leafOf(element),
  );
  let next = 0;
  const readerOf = (tree: SchemaTree, above?: string): Read => {
    const leaf = leaves[next];
    next += 1;
    const { converted_type: kind } = tree.element;
    const readers = tree.children.map((child) => readerOf(child, kind));
    const [only] = readers;
    if (leaf != null) return itemsOf(leaf.read);
    // The library drops the levels between a list or map and its items.
    const isDropped = kind === "LIST" || kind === "MAP" || above === "LIST";
    if (only !== undefined && readers.length === 1 && isDropped) return itemsOf(only);
    return itemsOf(above === "MAP" ? valuesOf(readers) : fieldsOf(tree, readers, path));
  };
  const read = readerOf(parquetSchema(metadata));
  const schema = metadata.schema.map((element, i) => leaves[i]?.stored ?? element);
  return { metadata: { ...metadata, schema }, read };
}

function fieldsOf({ children }: SchemaTree, readers: readonly Read[], path: string): Read {
  const names = children.map((child) => child.element.name);
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined) {
    const found = `two columns have the name "${twice}"`;
    throw new DataError("DATA_BAD_RECORD", `${path}: ${found}. Rename one of them.`);
  }
  const byName = new Map(names.map((name, i) => [name, readers[i]]));
  return (group) => {
    const items = Object.entries(group as object).map(([name, item]): [string, unknown] => [
      name,
      byName.get(name)?.(item),
    ]);
    return Object.fromEntries(items.filter(([, item]) => item !== null && item !== undefined));
  };
}

/** The values of a map; its keys are texts already. */
function valuesOf([, value]: readonly Read[]): Read {
  return (map) =>
    Object.fromEntries(Object.entries(map as object).map(([key, item]) => [key, value?.(item)]));
}

function itemsOf(read: Read): Read {
  const each = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(each) : value == null ? value : read(value);
  return each;
}
