import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { readJson, readText } from "../../src/base/files.ts";
import { readJsonl } from "../../src/base/jsonl.ts";
import { openText } from "../../src/base/open-text.ts";
import { textLines } from "../../src/base/text-lines.ts";
import { collect } from "../helpers/collect.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

async function text(path: string): Promise<string> {
  return Buffer.concat(await collect(openText(path))).toString("utf8");
}

const LONG = `Müller 日本 😀\n${"x".repeat(200_000)}\nend`;

function utf16be(content: string): Buffer {
  return Buffer.from(content, "utf16le").swap16();
}

describe("openText", () => {
  it.each([
    ["utf-16le", Buffer.from(`\uFEFF${LONG}`, "utf16le")],
    ["utf-16be", utf16be(`\uFEFF${LONG}`)],
    ["gzip named otherwise", gzipSync(LONG)],
    ["two gzip members", Buffer.concat([gzipSync(LONG.slice(0, 50)), gzipSync(LONG.slice(50))])],
    ["utf-8", Buffer.from(LONG)],
  ])("reads %s", async (name, content) => {
    expect(await text(file(name, content))).toBe(LONG);
  });

  it("reads an empty file as nothing, also if its name says gzip", async () => {
    expect(await text(file("empty", ""))).toBe("");
    expect(await text(file("empty.gz", ""))).toBe("");
  });

  const zip = Buffer.from("PK\x03\x04rest", "latin1");
  const tar = Buffer.alloc(1024);
  tar.write("a.jsonl");
  tar.write("ustar", 257);
  it.each([
    ["pointer.jsonl", "version https://git-lfs.github.com/spec/v1\noid sha256:a\n", "git lfs pull"],
    ["pointer.jsonl.gz", "version https://git-lfs.github.com/spec/v1\n", "git lfs pull"],
    ["annex.csv", "/annex/objects/SHA256E-s1--a.csv\n", "git annex get"],
    ["a.zip", zip, "unzip"],
    ["a.jsonl.zst", Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0]), "zstd -d"],
    ["a.jsonl.bz2", Buffer.from("BZh91AY"), "bunzip2"],
    ["a.jsonl.xz", Buffer.from("\xfd7zXZ\0", "latin1"), "unxz"],
    ["a.7z", Buffer.from("7z\xbc\xaf\x27\x1c", "latin1"), "7z x"],
    ["a.tar", tar, "tar -xf"],
    ["a.tar.gz", gzipSync(tar), "tar -xf"],
    ["twice.gz", gzipSync(gzipSync("{}")), "gunzip"],
    ["parquet.jsonl", "PAR1abc", ".parquet"],
    ["db.csv", "SQLite format 3\0", "sqlite3"],
    ["nul.jsonl", Buffer.from('{"a":1}\n', "utf16le"), "iconv -f UTF-16LE"],
    ["be.jsonl", utf16be('{"a":1}\n'), "iconv -f UTF-16BE"],
  ])("names %s and what to do", async (name, content, advice) => {
    await expect(text(file(name, content))).rejects.toThrow(errorWith("FILE_FORMAT", advice));
  });

  const packed = gzipSync("x".repeat(5000));
  const flipped = Buffer.from(packed);
  flipped[flipped.length - 6]! ^= 1;
  it.each([
    ["cut", packed.subarray(0, -4)],
    ["changed", flipped],
    ["followed by other bytes", Buffer.concat([packed, Buffer.from("more")])],
  ])("says that a gzip file is damaged when it is %s", async (name, content) => {
    const path = file(`${name}.gz`, content);
    await expect(text(path)).rejects.toThrow(errorWith("FILE_DAMAGED", "cannot be unpacked"));
  });
});

it("readText and readJson refuse other encodings instead of replacing letters", async () => {
  const latin = file("latin.yaml", Buffer.from("name: Müller\n", "latin1"));
  await expect(readText(latin)).rejects.toThrow(errorWith("FILE_FORMAT", "iconv"));
  expect(await readText(file("wide.yaml", Buffer.from("\uFEFFä", "utf16le")))).toBe("ä");
  const pointer = file("tokenizer.json", "version https://git-lfs.github.com/spec/v1\n");
  await expect(readJson(pointer)).rejects.toThrow(errorWith("FILE_FORMAT", "git lfs pull"));
});

it("lines end in CR alone as well", async () => {
  const path = file("cr.tsv", "\uFEFFa\t1\rb\t2\r\rc\t3");
  expect((await collect(textLines(path))).map(({ text, where }) => [text, where])).toEqual([
    ["a\t1", `${path}:1`],
    ["b\t2", `${path}:2`],
    ["c\t3", `${path}:4`],
  ]);
  const values = await collect(readJsonl(file("cr.jsonl", '{"a":1}\r{"a":2}\r'), { exact: true }));
  expect(values.map(({ line }) => line)).toEqual([1, 2]);
});
