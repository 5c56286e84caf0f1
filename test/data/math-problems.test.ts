import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { checkFile } from "../../src/data/check-file.ts";
import { readCard } from "../../src/data/cards/card.ts";
import { placeOf } from "../../src/data/cards/card-dataset.ts";
import { loadTasks } from "../../src/data/tasks.ts";
import { writeParquet } from "../../src/data/write-parquet.ts";
import { openDataset } from "../../src/worlds/open-dataset.ts";
import { errorWith } from "../helpers/error-with.ts";
import { writePublished } from "../helpers/published-files.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const before = process.env["AGENTRL_DATA"];
beforeAll(() => {
  process.env["AGENTRL_DATA"] = folder;
});
afterAll(() => {
  if (before === undefined) delete process.env["AGENTRL_DATA"];
  else process.env["AGENTRL_DATA"] = before;
});

async function written(name: string, records: readonly object[]): Promise<string> {
  const path = join(folder, `${name}.jsonl`);
  await writeFile(path, records.map((record) => JSON.stringify(record)).join("\n"));
  return path;
}

/** Id, references and annotations of each record. */
async function read(name: string, records: readonly object[]): Promise<unknown[]> {
  const tasks = await loadTasks(await written(name, records));
  return tasks.map(({ id, references, annotations }) => [id, references, annotations]);
}

describe("GSM8K", () => {
  it("has the text after the last #### as its answer, with the separators of thousands", async () => {
    const records = [
      { question: "a?", answer: "3 + 4 = <<3+4=7>>7\n#### 7" },
      { question: "b?", answer: "#### is no answer here\nso\n#### -1,080" },
    ];
    expect(await read("gsm", records)).toEqual([
      ["gsm-1", ["7"], {}],
      ["gsm-2", ["-1,080"], {}],
    ]);
  });

  it("refuses a record without ####, with its place", async () => {
    const records = [
      { question: "a?", answer: "#### 7" },
      { question: "b?", answer: "7" },
    ];
    await expect(read("bad", records)).rejects.toThrow(
      errorWith("DATA_BAD_RECORD", /bad\.jsonl:2: "answer" does not end with a line "#### "/),
    );
  });
});

describe("MATH and the sets in its form", () => {
  it("have the last box of the solution as answer, and subject and level", async () => {
    const record = { problem: "a?", type: "Algebra", level: "Level 5" };
    const solutions = [
      "$\\boxed{1}$, no: $\\boxed{\\frac{1}{2}}$.",
      "It is $\\boxed 2$.",
      "$x \\in \\boxed{[2,5]}$.",
    ];
    const records = solutions.map((solution) => ({ ...record, solution }));
    const annotations = { type: "Algebra", level: 5 };
    expect(await read("math", [...records, { ...records[0], level: "Level ?" }])).toEqual([
      ["math-1", ["\\frac{1}{2}"], annotations],
      ["math-2", ["2"], annotations],
      ["math-3", ["[2,5]"], annotations],
      ["math-4", ["\\frac{1}{2}"], { type: "Algebra" }],
    ]);
  });

  it("have an answer of their own: MATH-500, DeepScaleR, AIME, AMC, OlympiadBench", async () => {
    const own = { problem: "a?", solution: "$\\boxed{2}$", answer: "\\left( 3, 4 \\right)" };
    const records = [
      { ...own, subject: "Precalculus", level: 2, unique_id: "test/precalculus/807.json" },
      { ...own, answer: "[2, 5]" },
      { ...own, answer: "" },
      { id: 60, problem: "b?", solution: "…", answer: "025", url: "u", question: "b?" },
      { id: 0, problem: "b?", answer: 27.5, url: "u", question: "b?" },
      { id: 7, question: "c?", final_answer: ["$1$,$3$"], solution: ["…"], subfield: "Algebra" },
    ];
    expect(await read("own", records)).toEqual([
      ["test/precalculus/807.json", [own.answer], { type: "Precalculus", level: 2 }],
      ["own-2", ["[2, 5]"], {}],
      ["own-3", ["2"], {}],
      ["60", ["025"], {}],
      ["0", ["27.5"], {}],
      ["7", ["$1$,$3$"], { type: "Algebra" }],
    ]);
  });

  it("are checked record by record", async () => {
    const path = await written("checked", [
      { problem: "a?", answer: "1" },
      { problem: "b?", solution: "$\\boxed{}$" },
      { problem: "c?", answer: { value: 1 } },
      { answer: "1" },
    ]);
    const { layout, records, problems } = await checkFile(path);
    expect([layout, records]).toEqual(["math", 4]);
    expect(problems).toEqual([
      `${path}:2: has no accepted answer; at least one is required.`,
      `${path}:3: "answer" is {"value":1}: expected an accepted answer (text, a number, true or false) or a list of them.`,
      `${path}:4: has no "problem".`,
    ]);
  });
});

describe("verl's rows of problems", () => {
  const row = { data_source: "d", reward_model: { ground_truth: "[0,1]", style: "rule" } };
  const asked = (content: string) => ({ ...row, prompt: [{ role: "user", content }] });

  it("have the problem as prompt, alone or in the instruction of DAPO or of verl's script", async () => {
    const dapo =
      "Solve the following math problem step by step. The last line is the answer.\n\nLet $x=1$.\n\nFind $x$.\n\nRemember to put your answer on its own line.";
    const records = [
      { ...row, prompt: "Find $x$." },
      asked(dapo),
      asked("Find $x$. Let's think step by step and output the final answer within \\boxed{}."),
    ];
    const tasks = await loadTasks(await written("rows", records));
    expect(tasks.map(({ question }) => question)).toEqual([
      "Find $x$.",
      "Let $x=1$.\n\nFind $x$.",
      "Find $x$.",
    ]);
    expect(tasks[1]).toMatchObject({ id: "rows-2", references: ["[0,1]"], source: "d" });
  });

  it("are refused with another instruction", async () => {
    const path = await written("other", [{ ...row, prompt: "Find $x$." }, asked("Find it.")]);
    await expect(loadTasks(path)).rejects.toThrow(errorWith("DATA_BAD_RECORD", /:2: "prompt/));
  });
});

describe("a published set", () => {
  it.each([
    ["gsm8k", "original", "train.jsonl"],
    ["gsm8k", "hub", "train.parquet"],
    ["math", "lighteval", "train.parquet"],
    ["math-500", "hub", "test.jsonl"],
    ["dapo-math-17k", "open-r1", "train.parquet"],
    ["deepscaler", "hub", "train.json"],
  ])("%s of %s is read from %s", async (name, source, file) => {
    const { path } = await writePublished({ name, source }, 3);
    expect(path).toBe(join(folder, name, source, file));
    const dataset = await openDataset({ name, source }, "dataset");
    const tasks = await dataset.tasks();
    expect(tasks.map(({ references }) => references)).toEqual([["one"], ["two"], ["one"]]);
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(3);
    expect(dataset.trainable).toBe(name !== "math-500");
  });

  it("is read without the records that have no answer", async () => {
    await writePublished({ name: "one-shot-rlvr" }, 1);
    const { path } = placeOf(readCard("one-shot-rlvr"), {});
    const row = (i: number, ground_truth: string) => ({
      prompt: [
        { content: `${i}? Let's think step by step and output the final answer within \\boxed{}.` },
      ],
      reward_model: { ground_truth },
    });
    const rows = [row(1, "a"), row(2, ""), row(3, "c")];
    const { bytes } = await writeParquet(path, () => rows);
    const origin = { url: "", sha256: "", bytes, records: 3, layout: "", license: "" };
    await writeFile(`${path}.origin.json`, JSON.stringify(origin));
    const tasks = await (await openDataset("one-shot-rlvr", "x")).tasks();
    expect(tasks.map(({ id, question }) => [id, question])).toEqual([
      ["one-shot-rlvr-dsr-sub-1", "1?"],
      ["one-shot-rlvr-dsr-sub-3", "3?"],
    ]);
  });
});
