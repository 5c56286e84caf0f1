import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { readQueries } from "../../src/evaluate/retrieval-files.ts";
import { beirSet, filesSet, questionsSet } from "../../src/evaluate/retrieval-sets.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const at = (name: string): string => join(folder, name);

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
