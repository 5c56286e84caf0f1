import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCli } from "../helpers/run-cli.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const cwd = temporaryFolder();
const data = (...args: string[]) => runCli(["data", ...args], { cwd });
const SMALL = ["--people", "100", "--seed", "7", "--questions", "20"];

describe("agentrl data", () => {
  it("generates a tiny world and checks it", () => {
    expect(data("generate", "tinyworld", "--out", "tw", ...SMALL)).toMatchInlineSnapshot(`
      {
        "status": 0,
        "stderr": "",
        "stdout": "tw/train.jsonl   20 questions  10 kB
      tw/dev.jsonl     20 questions   9 kB
      tw/test.jsonl    20 questions  10 kB
      tw/corpus.jsonl  510 passages  88 kB
      ",
      }
    `);
    expect(readdirSync(join(cwd, "tw"))).toHaveLength(5);
    expect(data("check", "tw")).toEqual({
      stdout: "tw: kind tinyworld, passages 510, questions 60\n",
      stderr: "",
      status: 0,
    });
  });

  it("prints one JSON document under --json", () => {
    const args = ["--splits", "base,dev", "--distractors", "10", "--json"];
    const { stdout } = data("generate", "tinyworld", "--out", "tw2", ...SMALL, ...args);
    expect(JSON.parse(stdout)).toMatchObject({
      out: "tw2",
      seed: 7,
      people: 100,
      splits: ["base", "dev"],
      files: { "base.jsonl": { records: 20 }, "corpus.jsonl": { records: 340 } },
    });
    expect(JSON.parse(data("check", "tw2/dev.jsonl", "--json").stdout)).toEqual({
      path: "tw2/dev.jsonl",
      kind: "questions",
      layout: "hotpotqa",
      records: 20,
      problems: [],
    });
  });

  it("lists every bad line of a file and ends with 3", () => {
    writeFileSync(join(cwd, "bad.jsonl"), '{"question":"?","answer":"x"}\n{"question":"?"}\n[]\n');
    expect(data("check", "bad.jsonl")).toMatchInlineSnapshot(`
      {
        "status": 3,
        "stderr": "error: bad.jsonl: 2 problems; see the list. [DATA_CHECK_FAILED]
      ",
        "stdout": "bad.jsonl:2: "answer" is missing: expected an accepted answer, or a list of them, not all blank.
      bad.jsonl:3: is []; expected a JSON object.
      bad.jsonl: kind questions, layout plain, records 2
      ",
      }
    `);
    const { stdout, status } = data("check", "bad.jsonl", "--json");
    expect((JSON.parse(stdout) as { problems: string[] }).problems).toHaveLength(2);
    expect(status).toBe(3);
  });

  it("converts, and writes nothing when a line is bad", () => {
    writeFileSync(join(cwd, "good.jsonl"), '{"id":"1","question":"?","answer":"x"}\n');
    expect(data("convert", "good.jsonl", "out.jsonl", "--to", "flashrag").stdout).toBe(
      "out.jsonl: 1 questions, flashrag\n",
    );
    expect(data("convert", "bad.jsonl", "out2.jsonl", "--to", "flashrag").status).toBe(3);
    expect(readdirSync(cwd)).not.toContain("out2.jsonl");
  });

  it("names what is allowed when an argument is not", () => {
    const messages = [
      data("generate", "tinyworld", "--out", "tw3", "--people", "1"),
      data("generate", "tinyworld", "--out", "tw3", "--splits", "train,val"),
      data("generate", "hugeworld", "--out", "tw3"),
      data("check", "nowhere.jsonl"),
    ].map(({ stderr, status }) => `${status ?? "none"} ${stderr}`);
    expect(messages).toMatchInlineSnapshot(`
      [
        "2 error: tinyworld.people is 1: expected at least 2. [RECIPE_BAD_VALUE]
      ",
        "2 error: tinyworld.splits.1 is "val": allowed: "train", "dev", "test", "base". [RECIPE_BAD_VALUE]
      ",
        "2 error: command-argument value 'hugeworld' is invalid for argument 'dataset'. Allowed choices are tinyworld. See \`agentrl data generate --help\`. [USAGE]
      ",
        "3 error: nowhere.jsonl: cannot be read (ENOENT: no such file or directory, open 'nowhere.jsonl'). [FILE_MISSING]
      ",
      ]
    `);
  });

  it("lists datasets and layouts", () => {
    const lists = JSON.parse(data("list", "--json").stdout) as Record<string, { name: string }[]>;
    expect(Object.entries(lists).map(([key, parts]) => [key, ...parts.map((p) => p.name)])).toEqual(
      [
        ["datasets", "tinyworld", "files"],
        ["questionLayouts", "agentrl", "flashrag", "paragraphs", "hotpotqa", "plain"],
        ["corpusLayouts", "agentrl", "flashrag"],
      ],
    );
  });
});
