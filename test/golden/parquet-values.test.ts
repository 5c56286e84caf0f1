/** Values of Parquet files, as pyarrow writes them and pandas prints them. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { WrittenNumber } from "../../src/base/exact-json.ts";
import { parquetRecords } from "../../src/data/parquet.ts";
import { collect } from "../helpers/collect.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

interface Golden {
  files: { name: string; columns: Record<string, unknown[]>; parquet: string }[];
}

const golden = JSON.parse(
  readFileSync(new URL("parquet-values.json", import.meta.url), "utf8"),
) as Golden;
const folder = temporaryFolder();

/** Numbers as the texts that an answer would be; booleans stay. */
function asPrinted(value: unknown): unknown {
  if (value instanceof WrittenNumber) return value.text;
  if (typeof value === "number") return String(value);
  if (Array.isArray(value)) return value.map(asPrinted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, asPrinted(item)]));
}

describe.each(golden.files)("$name", ({ name, columns, parquet }) => {
  const path = join(folder, `${name}.parquet`);
  writeFileSync(path, Buffer.from(parquet, "base64"));

  it.each(Object.keys(columns))("%s is what pandas prints", async (column) => {
    const rows = await collect(parquetRecords(path));
    expect(rows.map((row) => asPrinted(row[column]))).toEqual(columns[column]);
  });
});
