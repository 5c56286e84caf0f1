import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { readPassages } from "../../src/data/passages.ts";
import { loadTasks } from "../../src/data/tasks.ts";
import type { Passage } from "../../src/trajectory/task.ts";
import { collect } from "../helpers/collect.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();

async function read(name: string, content: string | Uint8Array): Promise<Passage[]> {
  const path = join(folder, name);
  await writeFile(path, content);
  return collect(readPassages(path));
}

const lines = (...records: unknown[]): string => records.map((r) => JSON.stringify(r)).join("\n");

describe("readPassages reads", () => {
  it("id, title and text; a missing title is empty, a number is taken for an id", async () => {
    expect(
      await read("a.jsonl", lines({ id: 7, text: "x" }, { id: "b", title: "B", text: "" })),
    ).toEqual([
      { id: "7", title: "", text: "x" },
      { id: "b", title: "B", text: "" },
    ]);
  });

  it("BEIR's _id, packed", async () => {
    const packed = gzipSync(lines({ _id: "4983", title: "T", text: "x", metadata: {} }));
    expect(await read("b.jsonl.gz", packed)).toEqual([{ id: "4983", title: "T", text: "x" }]);
  });

  it("FlashRAG's contents: quoted title, newline, text", async () => {
    const records = [
      { id: "0", contents: '"A "B" C"\nfirst\nsecond' },
      { id: "1", contents: "no title" },
    ];
    expect(await read("c.jsonl", lines(...records))).toEqual([
      { id: "0", title: 'A "B" C', text: "first\nsecond" },
      { id: "1", title: "", text: "no title" },
    ]);
  });

  it("the distinct passages of questions with contexts, under the ids that the tasks name", async () => {
    const question = (id: string, gold: string, context: unknown[]): object => ({
      _id: id,
      question: "?",
      answer: "x",
      supporting_facts: [[gold, 0]],
      context,
    });
    const content = lines(
      question("q1", "A", [
        ["A", ["a one.", " a two."]],
        ["B", ["b"]],
      ]),
      question("q2", "B", [
        ["B", ["b"]],
        ["A", ["another a"]],
      ]),
    );
    const passages = await read("d.jsonl", content);
    expect(passages.map(({ title, text }) => [title, text])).toEqual([
      ["A", "a one. a two."],
      ["B", "b"],
      ["A", "another a"],
    ]);
    expect(new Set(passages.map(({ id }) => id)).size).toBe(3);
    const tasks = await loadTasks(join(folder, "d.jsonl"));
    expect(tasks.map((task) => task.annotations.supportingPassages)).toEqual([
      [passages[0]?.id],
      [passages[1]?.id],
    ]);
  });
});

describe("readPassages refuses", () => {
  it("a record without text, by line", async () => {
    await expect(read("e.jsonl", lines({ id: "a", text: "x" }, { id: "b" }))).rejects.toThrow(
      errorWith("DATA_BAD_RECORD", /e\.jsonl:2: "text" is missing: expected text\./),
    );
    await expect(read("f.jsonl", lines({ _id: "a", text: "x" }, { text: "y" }))).rejects.toThrow(
      errorWith("DATA_BAD_RECORD", /f\.jsonl:2: "_id" is missing/),
    );
  });

  it("questions without passages, and keys that it does not know", async () => {
    await expect(read("g.jsonl", lines({ question: "?", answer: "x" }))).rejects.toThrow(
      errorWith("DATA_LAYOUT_UNKNOWN", "g.jsonl:1: is a question without passages"),
    );
    await expect(read("h.jsonl", lines({ doc: "x", words: "y" }))).rejects.toThrow(
      errorWith("DATA_LAYOUT_UNKNOWN", /h\.jsonl:1: .*doc, words.*--text-field/),
    );
  });
});

const shared = join(import.meta.dirname, "..", "..", "..", "shared", "data");

describe.skipIf(!existsSync(shared))("real files (skipped where ../shared/data is absent)", () => {
  it("makes one collection of HotpotQA's 500 × 10 paragraphs", async () => {
    const path = join(shared, "hotpotqa", "dev-500-paragraphs.jsonl");
    const passages = await collect(readPassages(path));
    expect(passages.length).toMatchInlineSnapshot(`4858`);
    const ids = new Set(passages.map(({ id }) => id));
    expect(ids.size).toBe(passages.length);
    for (const task of await loadTasks(path)) {
      expect(task.annotations.supportingPassages?.every((id) => ids.has(id))).toBe(true);
    }
  });

  it("reads SciFact", async () => {
    const passages = await collect(readPassages(join(shared, "scifact/corpus.jsonl.gz")));
    expect(passages).toHaveLength(5183);
  });
});
