import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { readQrels } from "../../src/data/qrels.ts";
import { readQueries } from "../../src/evaluate/retrieval-files.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();

async function file(name: string, content: string | Buffer): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

describe("readQueries", () => {
  const expected = [
    { id: "1", text: "a query" },
    { id: "b", text: "another: one" },
  ];

  it("reads BEIR's JSON lines, packed or not, and tab-separated lines", async () => {
    const lines =
      '{"_id": 1, "text": "a query", "metadata": {}}\n{"id": "b", "question": "another: one"}\n';
    expect(await readQueries(await file("q.jsonl", lines))).toEqual(expected);
    expect(await readQueries(await file("q.jsonl.gz", gzipSync(lines)))).toEqual(expected);
    expect(await readQueries(await file("q.tsv", "1\ta query\r\nb\tanother: one\n"))).toEqual(
      expected,
    );
  });

  it("names the line that it cannot read", async () => {
    const tsv = await file("bad.tsv", "1\tfine\nno tab here\n");
    await expect(readQueries(tsv)).rejects.toThrow(
      `${tsv}:2: is "no tab here"; expected a query id, a tab, and the query.`,
    );
    const jsonl = await file("bad.jsonl", '{"_id": "1"}\n');
    await expect(readQueries(jsonl)).rejects.toThrow(`${jsonl}:1: is {"_id":"1"}; expected`);
  });
});

describe("readQrels", () => {
  const expected = new Map([
    [
      "1",
      new Map([
        ["d1", 2],
        ["d2", 0],
      ]),
    ],
    ["2", new Map([["d1", 1]])],
  ]);

  it("reads BEIR's columns with and without header, and TREC's", async () => {
    const beir = "1\td1\t2\n1\td2\t0\n2\td1\t1\n";
    expect(await readQrels(await file("a.tsv", `query-id\tcorpus-id\tscore\n${beir}`))).toEqual(
      expected,
    );
    expect(await readQrels(await file("b.tsv", beir))).toEqual(expected);
    expect(await readQrels(await file("c.txt", "1 0 d1 2\n1 0 d2 0\n2 0 d1 1\n"))).toEqual(
      expected,
    );
  });

  it.each(["1 d1", "1 d1 much", "1 0 d1 1 tag", "1 0 d1 0.5"])(
    "names the line %j",
    async (line) => {
      const path = await file("bad.txt", `1 0 d1 1\n${line}\n`);
      await expect(readQrels(path)).rejects.toThrow(`${path}:2: is ${JSON.stringify(line)}`);
      await expect(readQrels(path)).rejects.toThrow(
        expect.objectContaining({ code: "QRELS_BAD_LINE" }) as Error,
      );
    },
  );
});
