import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { type JsonLine, openJsonl, readJsonl } from "../../src/base/jsonl.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

async function all(path: string, options = {}): Promise<JsonLine[]> {
  const lines: JsonLine[] = [];
  for await (const line of readJsonl(path, options)) lines.push(line);
  return lines;
}

describe("readJsonl", () => {
  it("gives each value with its line number and skips blank lines", async () => {
    expect(await all(file("a.jsonl", '{"a":1}\n\n[2]\r\n"x"'))).toEqual([
      { value: { a: 1 }, line: 1 },
      { value: [2], line: 3 },
      { value: "x", line: 4 },
    ]);
  });

  it("ends a line where a file does, not at signs that a text may hold", async () => {
    const text = "a\u2028b\u2029c\u0085d\v\f";
    const content = `\uFEFF${JSON.stringify(text)}\r\n${JSON.stringify({ text })}\n`;
    expect(await all(file("signs.jsonl", content))).toEqual([
      { value: text, line: 1 },
      { value: { text }, line: 2 },
    ]);
  });

  it("puts a line together that is longer than what is read at once, and letters of several bytes", async () => {
    const values = [1, 2, 3].map((length) => "x".repeat(length) + "日本é".repeat(40_000));
    const content = values.map((value) => JSON.stringify(value)).join("\n");
    expect((await all(file("long.jsonl", content))).map(({ value }) => value)).toEqual(values);
  });

  it("names a line whose bytes are no text", async () => {
    const path = file("latin1.jsonl", Buffer.from('"ok"\n"Par\xe9s"\n', "latin1"));
    await expect(all(path)).rejects.toMatchObject({
      code: "JSONL_BAD_LINE",
      message: expect.stringContaining(
        "latin1.jsonl:2: is not JSON (its bytes are not UTF-8",
      ) as string,
    });
  });

  it("unpacks .gz", async () => {
    expect(await all(file("a.jsonl.gz", gzipSync("1\n2\n")))).toHaveLength(2);
  });

  it("names file and line of a line that does not parse", async () => {
    await expect(all(file("b.jsonl", "1\n{\n3\n"))).rejects.toMatchObject({
      code: "JSONL_BAD_LINE",
      message: expect.stringContaining("b.jsonl:2: is not JSON") as string,
    });
  });

  it("drops a cut last line only when told to", async () => {
    const path = file("c.jsonl", '1\n{"a":');
    await expect(all(path)).rejects.toMatchObject({ code: "JSONL_BAD_LINE" });
    expect(await all(path, { tolerateCutEnd: true })).toEqual([{ value: 1, line: 1 }]);
    const middle = file("d.jsonl", '{"a":\n1\n');
    await expect(all(middle, { tolerateCutEnd: true })).rejects.toThrow("d.jsonl:1");
  });

  it("says when the file is missing or its packing is broken", async () => {
    await expect(all(join(folder, "none.jsonl"))).rejects.toMatchObject({ code: "FILE_MISSING" });
    await expect(all(join(folder, "none.jsonl.gz"))).rejects.toMatchObject({
      code: "FILE_MISSING",
    });
    await expect(all(file("e.jsonl.gz", "no gzip"))).rejects.toMatchObject({
      code: "FILE_DAMAGED",
    });
  });
});

describe("openJsonl", () => {
  it("appends to what is there", async () => {
    const path = file("log.jsonl", "1\n");
    const log = await openJsonl(path);
    await log.append({ a: "ü" });
    await log.close();
    expect(readFileSync(path, "utf8")).toBe('1\n{"a":"ü"}\n');
  });

  it("says when it cannot", async () => {
    const path = join(folder, "no", "such", "folder.jsonl");
    await expect(openJsonl(path)).rejects.toMatchObject({ code: "FILE_WRITE_FAILED" });
  });
});
