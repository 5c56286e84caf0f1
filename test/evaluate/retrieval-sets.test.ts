import { mkdirSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { readQrels } from "../../src/data/qrels.ts";
import { beirSet, filesSet, questionsSet, readQueries } from "../../src/evaluate/retrieval-sets.ts";
import { errorWith } from "../helpers/error-with.ts";
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

const setsFolder = temporaryFolder();
const at = (name: string): string => join(setsFolder, name);

beforeAll(() => {
  mkdirSync(at("beir/qrels"), { recursive: true });
  const queries = ["a", "b"].map((id) => JSON.stringify({ _id: id, text: `text ${id}` }));
  writeFileSync(at("beir/queries.jsonl.gz"), gzipSync(queries.join("\n")));
  writeFileSync(at("beir/qrels/test.tsv"), "query-id\tcorpus-id\tscore\na\t1\t1\n");
  writeFileSync(at("beir/qrels/dev.tsv"), "b\t1\t1\n");
  writeFileSync(at("beir/corpus.jsonl"), "");
});

describe("beirSet", () => {
  it("takes the queries that the split judges", async () => {
    const set = await beirSet(at("beir"), "test");
    expect(set.queries).toEqual([{ id: "a", text: "text a" }]);
    expect(set.qrels).toEqual(new Map([["a", new Map([["1", 1]])]]));
    expect(set.corpus).toBe(at("beir/corpus.jsonl"));
    expect((await beirSet(at("beir"), "dev")).queries).toEqual([{ id: "b", text: "text b" }]);
  });

  it("lists the splits that there are", async () => {
    await expect(beirSet(at("beir"), "tset")).rejects.toThrow(
      errorWith("FILE_MISSING", 'has no split "tset". Did you mean "test"? Known: dev, test.'),
    );
    await expect(beirSet(at("beir/qrels"), "test")).rejects.toThrow(
      errorWith("FILE_MISSING", "has no folder qrels"),
    );
  });
});

describe("questionsSet", () => {
  it("makes queries of questions and judgements of their supporting passages", async () => {
    const questions = [
      {
        id: "1",
        question: "Who?",
        references: ["x"],
        annotations: { supportingPassages: ["p", "q"] },
      },
      { id: "2", question: "Where?", references: ["x"] },
    ];
    writeFileSync(at("q.jsonl"), questions.map((question) => JSON.stringify(question)).join("\n"));
    const set = await questionsSet(at("q.jsonl"));
    expect(set.queries.map(({ id, text, task }) => [id, text, task?.id])).toEqual([
      ["1", "Who?", "1"],
      ["2", "Where?", "2"],
    ]);
    expect([...set.qrels]).toEqual([
      [
        "1",
        new Map([
          ["p", 1],
          ["q", 1],
        ]),
      ],
    ]);
    expect(set.corpus).toBeUndefined();
  });

  it("names the passages of questions with contexts as their corpus", async () => {
    const context = [
      ["Oslo", ["A city."]],
      ["Lima", ["Another."]],
    ];
    const question = { question: "Who?", answer: "x", supporting_facts: [["Lima", 0]], context };
    writeFileSync(at("h.json"), JSON.stringify([question]));
    const set = await questionsSet(at("h.json"));
    expect(set.corpus).toBe(at("h.json"));
    expect(set.queries[0]?.task?.annotations.hops).toBe(1);
    expect([...set.qrels.values()][0]?.size).toBe(1);
  });
});

describe("filesSet", () => {
  it("makes every judged query one where no queries are given", async () => {
    const set = await filesSet(at("beir/qrels/dev.tsv"));
    expect(set.queries).toEqual([{ id: "b", text: "" }]);
  });
});

describe("readQueries of TREC topics", () => {
  it("takes number and title", async () => {
    const topics = [
      "<top>",
      "<num> Number: 301 ",
      "<title> International\n  Organized Crime ",
      "<desc> Description: not this",
      "</top>",
      "<top><num>302</num><title>Topic: Polio</title></top>",
    ];
    writeFileSync(at("topics.txt"), topics.join("\n"));
    expect(await readQueries(at("topics.txt"))).toEqual([
      { id: "301", text: "International Organized Crime" },
      { id: "302", text: "Polio" },
    ]);
  });

  it("names a topic without a title", async () => {
    writeFileSync(at("bad.txt"), "<top><num> 1 <title> a </top>\n<top><num> 2 </top>");
    await expect(readQueries(at("bad.txt"))).rejects.toThrow(
      errorWith("QRELS_BAD_LINE", "bad.txt: topic 2 is"),
    );
  });
});
