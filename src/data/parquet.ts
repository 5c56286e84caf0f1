import { compressors } from "hyparquet-compressors";
import {
  type AsyncBuffer,
  asyncBufferFromFile,
  parquetMetadataAsync,
  parquetReadObjects,
} from "hyparquet";
import { DataError, errorMessage } from "../base/errors.ts";
import { openUnpacked } from "../base/files.ts";
import type { JsonRecord } from "./layouts/layout.ts";

/**
 * The rows of a Parquet file as JSON objects. Memory grows with the largest row group, and with the file if it is also `.gz`.
 *
 * A null is left out: a Parquet column has one in every row that lacks the key.
 * Different from JSON: a whole number of 64 bits that JavaScript cannot hold exactly becomes text, as does a date.
 *
 * @throws {DataError} FILE_NOT_PARQUET
 */
export async function* parquetRecords(path: string): AsyncGenerator<JsonRecord> {
  try {
    const file = await bufferOf(path);
    const metadata = await parquetMetadataAsync(file);
    let rowStart = 0;
    for (const { num_rows } of metadata.row_groups) {
      const rowEnd = rowStart + Number(num_rows);
      const rows = await parquetReadObjects({ file, metadata, compressors, rowStart, rowEnd });
      for (const row of rows) yield asJson(row) as JsonRecord;
      rowStart = rowEnd;
    }
  } catch (error) {
    if (error instanceof DataError) throw error;
    throw new DataError(
      "FILE_NOT_PARQUET",
      `${path}: is not a Parquet file (${errorMessage(error)}).`,
      {
        cause: error,
      },
    );
  }
}

async function bufferOf(path: string): Promise<AsyncBuffer> {
  if (!path.endsWith(".gz")) return asyncBufferFromFile(path);
  const bytes = new Uint8Array(Buffer.concat((await openUnpacked(path).toArray()) as Buffer[]));
  return bytes.buffer;
}

function asJson(value: unknown): unknown {
  if (typeof value === "bigint") {
    return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  }
  if (value instanceof Date) return value.toISOString();
  if (ArrayBuffer.isView(value)) return [...(value as Uint8Array)].map(asJson);
  if (Array.isArray(value)) return value.map(asJson);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, item]) => item !== null && item !== undefined);
  return Object.fromEntries(entries.map(([key, item]) => [key, asJson(item)]));
}
