import { cardNames } from "../../src/data/cards/card-names.ts";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { commandNamed, runCommand } from "../helpers/run-command.ts";
import { naming } from "../helpers/naming.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const dataCommand = commandNamed("data");

const cwd = temporaryFolder();
// Messages and results name files as the command line does.
process.chdir(cwd);
const data = (...args: string[]) => runCommand(dataCommand, ["data", ...args]);
const SMALL = ["--people", "100", "--seed", "7", "--questions", "20"];

describe("agentrl data", () => {
  it("generates a tiny world and checks it", async () => {
    expect(await data("generate", "tinyworld", "--out", "tw", ...SMALL)).toMatchInlineSnapshot(`
      {
        "status": 0,
        "stderr": "",
        "stdout": "tw/train.jsonl   20 questions   9.8 kB
      tw/dev.jsonl     20 questions   9.2 kB
      tw/test.jsonl    20 questions   9.9 kB
      tw/corpus.jsonl  510 passages  94.4 kB
      ",
      }
    `);
    expect(readdirSync(join(cwd, "tw"))).toHaveLength(5);
    expect(await data("check", "tw")).toEqual({
      stdout: "tw: kind tinyworld, passages 510, questions 60\n",
      stderr: "",
      status: 0,
    });
  });

  it("prints one JSON document under --json", async () => {
    const args = ["--splits", "base,dev", "--distractors", "10", "--json"];
    const { stdout } = await data("generate", "tinyworld", "--out", "tw2", ...SMALL, ...args);
    expect(JSON.parse(stdout)).toMatchObject({
      out: "tw2",
      seed: 7,
      people: 100,
      splits: ["base", "dev"],
      files: { "base.jsonl": { records: 20 }, "corpus.jsonl": { records: 340 } },
    });
    expect(JSON.parse((await data("check", "tw2/dev.jsonl", "--json")).stdout)).toEqual({
      path: "tw2/dev.jsonl",
      kind: "questions",
      layout: "hotpotqa",
      records: 20,
      problems: [],
      notices: [],
    });
  });

  it("lists every bad line of a file and ends with 3", async () => {
    writeFileSync(join(cwd, "bad.jsonl"), '{"question":"?","answer":"x"}\n{"question":"?"}\n[]\n');
    expect(await data("check", "bad.jsonl")).toMatchInlineSnapshot(`
      {
        "status": 3,
        "stderr": "error: bad.jsonl: 2 problems; see the list. [DATA_CHECK_FAILED]
      ",
        "stdout": "id     question  answers
      bad-1  ?         x

      bad.jsonl:2: "answer" is missing: expected an accepted answer (text, a number, true or false) or a list of them, with at least one non-blank.
      bad.jsonl:3: is []; expected a JSON object.
      bad.jsonl: kind questions, layout plain, records 2
      ",
      }
    `);
    const { stdout, status } = await data("check", "bad.jsonl", "--json");
    expect((JSON.parse(stdout) as { problems: string[] }).problems).toHaveLength(2);
    expect(status).toBe(3);
  });

  it("converts, and writes nothing when a line is bad", async () => {
    writeFileSync(join(cwd, "good.jsonl"), '{"id":"1","question":"?","answer":"x"}\n');
    expect((await data("convert", "good.jsonl", "out.jsonl", "--to", "flashrag")).stdout).toBe(
      "out.jsonl: 1 questions, flashrag\n",
    );
    expect((await data("convert", "bad.jsonl", "out2.jsonl", "--to", "flashrag")).status).toBe(3);
    expect(readdirSync(cwd)).not.toContain("out2.jsonl");
  });

  it("says of a dataset that is not here how it is had", async () => {
    vi.stubEnv("AGENTRL_DATA", cwd);
    const { status, stderr } = await data("check", "wiki18");
    vi.unstubAllEnvs();
    expect(status).toBe(2);
    expect(stderr).toMatch(
      /^error: dataset wiki18:corpus is not on this machine .*21015324 passages, .*agentrl data download wiki18 --split corpus/,
    );
  });

  it("says what a folder to be checked lacks, and converts nothing of nothing", async () => {
    mkdirSync(join(cwd, "folder"));
    writeFileSync(join(cwd, "nothing.jsonl"), "");
    expect(await data("check", "folder")).toMatchObject({
      status: 3,
      stderr: expect.stringMatching(/^error: folder: .*DATA_FOLDER_UNCLEAR/) as string,
    });
    expect(await data("convert", "nothing.jsonl", "none.jsonl", "--to", "trl")).toMatchObject({
      status: 3,
      stderr: expect.stringContaining("DATA_EMPTY") as string,
    });
    expect(readdirSync(cwd)).not.toContain("none.jsonl");
  });

  it("names what is allowed when an argument is not", async () => {
    const answers = [
      await data("generate", "tinyworld", "--out", "tw3", "--people", "1"),
      await data("generate", "tinyworld", "--out", "tw3", "--splits", "train,val"),
      await data("generate", "hugeworld", "--out", "tw3"),
      await data("check", "nowhere.jsonl"),
    ];
    const messages = answers.map(({ stderr, status }) => `${status ?? "none"} ${stderr}`);
    expect(messages).toEqual([
      expect.stringMatching(naming("2 error: tinyworld.people", "1", "2", "[RECIPE_BAD_VALUE]")),
      expect.stringMatching(
        naming("2 error: tinyworld.splits.1", '"val"', '"train"', "[RECIPE_BAD_VALUE]"),
      ),
      expect.stringMatching(naming("2 error:", '"hugeworld"', "tinyworld, numberworld", "[USAGE]")),
      expect.stringMatching(naming("3 error: nowhere.jsonl:", "ENOENT", "[FILE_MISSING]")),
    ]);
  });

  it("lists datasets and layouts", async () => {
    const lists = JSON.parse((await data("list", "--json")).stdout) as Record<
      string,
      { name: string }[]
    >;
    const names = (key: string): string[] => (lists[key] ?? []).map(({ name }) => name);
    expect(names("datasets")).toEqual([
      ...[
        "tinyworld",
        "weak-tinyworld",
        ...["reader", "simulator", "judge"].map((role) => `${role}-exercises`),
        "verifier-attacks",
        "entailment-exercises",
        "numberworld",
        "weak-numberworld",
        "counting",
        "knights-knaves",
        "files",
        "beir",
        "by-tries",
        "by-variance",
        "composed",
        "joined",
        "one-hop",
        "arithmetic",
        "environment",
      ],
      ...cardNames("questions"),
    ]);
    expect(names("corpora")).toEqual(["wiki18"]);
    expect(names("questionLayouts")).toHaveLength(19);
    expect(names("corpusLayouts")).toEqual(["agentrl", "flashrag"]);
  });

  it("lists within 80 columns, and tells all of one dataset", async () => {
    const { stdout } = await data("list");
    const wide = stdout.split("\n").filter((line) => line.length > 80);
    expect(wide.filter((line) => !line.startsWith("Kept in "))).toEqual([]);
    expect(stdout).toMatch(/^ {2}hotpotqa +train +90,447 {2}CC BY-SA 4\.0$/m);
    const one = (await data("list", "nq")).stdout;
    expect(one).toContain("passages  none; corpus: wiki18");
    const problems = (await data("list", "math-500")).stdout;
    expect(problems).toMatch(/^ {2}passages {2}none$/m);
    expect(problems).toContain("  test  500, math, checksum known\n    hub:HuggingFaceH4/");
    expect(one).toContain("  train  79,168, flashrag, checksum known\n    hub:RUC-NLPIR/");
  });

  it("writes rows for trainers with a prompt of one's own, and says what they have no place for", async () => {
    writeFileSync(join(cwd, "prompt.txt"), "Search, then answer.\nQuestion: {question}\n");
    const nq = { id: "1", question: "who $&?", golden_answers: ["x", "y"], data_source: "nq" };
    writeFileSync(
      join(cwd, "nq.jsonl"),
      JSON.stringify({ ...nq, metadata: { type: "bridge", supporting_facts: [["A", 0]] } }),
    );
    const convert = (to: string) =>
      data(
        "convert",
        "nq.jsonl",
        `${to}.jsonl`,
        "--to",
        to,
        "--prompt",
        "prompt.txt",
        "--split",
        "dev",
        "--overwrite",
      );
    expect((await convert("verl")).stderr).toBe(
      ["type", "supportingFacts", "hops"]
        .map((key) => `verl has no place for "${key}": 1 of 1 questions lose it.\n`)
        .join(""),
    );
    const ground_truth = { target: ["x", "y"] };
    const asked = [{ role: "user", content: "Search, then answer.\nQuestion: who $&?" }];
    const identity = { data_source: "searchR1_nq", question: "who $&?" };
    expect(JSON.parse(readFileSync(join(cwd, "verl.jsonl"), "utf8"))).toEqual({
      id: "1",
      ...identity,
      golden_answers: ["x", "y"],
      prompt: asked,
      ability: "fact-reasoning",
      reward_model: { style: "rule", ground_truth },
      extra_info: {
        index: 0,
        split: "dev",
        id: "1",
        question: "who $&?",
        need_tools_kwargs: true,
        tools_kwargs: { search: { create_kwargs: { ground_truth, ...identity } } },
      },
    });
    await convert("trl");
    expect(JSON.parse(readFileSync(join(cwd, "trl.jsonl"), "utf8"))).toEqual({
      prompt: asked,
      question: "who $&?",
      references: ["x", "y"],
      id: "1",
      source: "nq",
    });
    writeFileSync(join(cwd, "prompt.txt"), "no place");
    expect((await convert("trl")).stderr).toBe(
      "error: --prompt: the text has no {question}; put {question} where the question goes. [RECIPE_BAD_VALUE]\n",
    );
  });
});
