import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { DataError } from "../../src/base/errors.ts";
import { parquetRecords } from "../../src/data/parquet.ts";
import { readRecords } from "../../src/data/records.ts";
import { writeParquet } from "../../src/data/write-parquet.ts";
import { collect } from "../helpers/collect.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const at = (name: string): string => join(folder, name);

const ROWS = [
  {
    id: "1",
    prompt: [{ role: "user", content: "Who?" }],
    reward_model: { style: "rule", ground_truth: { target: ["Ada", "A. Roth"] } },
    extra_info: { index: 0, share: 0.5, used: true },
    empty: [],
  },
  {
    id: "2",
    prompt: [],
    reward_model: { style: "rule", ground_truth: { target: ["x"] } },
    extra_info: { index: 1, share: 2.5, used: false, note: "ü" },
    empty: [],
  },
];

it("writes nested rows that read back as they were", async () => {
  const written = await writeParquet(at("a.parquet"), () => ROWS);
  expect(written.records).toBe(2);
  expect((await readFile(at("a.parquet"))).byteLength).toBe(written.bytes);
  expect(await collect(parquetRecords(at("a.parquet")))).toEqual(ROWS);
  await writeFile(at("a.parquet.gz"), gzipSync(await readFile(at("a.parquet"))));
  expect((await collect(readRecords(at("a.parquet.gz")))).map(({ record }) => record)).toEqual(
    ROWS,
  );
});

it("writes more rows than a row group holds, in order", async () => {
  const rows = Array.from({ length: 25_001 }, (_, index) => ({ index, text: `t${index}` }));
  await writeParquet(at("many.parquet"), () => rows);
  expect(await collect(parquetRecords(at("many.parquet")))).toEqual(rows);
});

it("refuses rows whose values differ in kind, and leaves no file", async () => {
  const mixed = [{ a: "text" }, { a: ["list"] }];
  await expect(writeParquet(at("mixed.parquet"), () => mixed)).rejects.toThrow(
    errorWith("DATA_BAD_RECORD", '"a"'),
  );
  await expect(readFile(at("mixed.parquet"))).rejects.toThrow("ENOENT");
});

it("refuses a file that is no Parquet file", async () => {
  await writeFile(at("no.parquet"), '{"question":"a?"}\n');
  const reading = collect(parquetRecords(at("no.parquet")));
  await expect(reading).rejects.toThrow(DataError);
  await expect(reading).rejects.toThrow(errorWith("FILE_NOT_PARQUET", "no.parquet"));
});

it("names a pointer and an archive under a Parquet name, and a file that is cut", async () => {
  await writeFile(at("lfs.parquet"), "version https://git-lfs.github.com/spec/v1\noid sha256:a\n");
  await expect(collect(parquetRecords(at("lfs.parquet")))).rejects.toThrow(
    errorWith("FILE_FORMAT", "git lfs pull"),
  );
  await writeFile(at("packed.parquet"), gzipSync("x"));
  await expect(collect(parquetRecords(at("packed.parquet")))).rejects.toThrow(DataError);
  await writeParquet(at("whole.parquet"), () => ROWS);
  await writeFile(at("cut.parquet"), (await readFile(at("whole.parquet"))).subarray(0, -20));
  await expect(collect(parquetRecords(at("cut.parquet")))).rejects.toThrow(
    errorWith("FILE_NOT_PARQUET", "cut.parquet"),
  );
});
