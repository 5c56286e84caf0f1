import { describe, expect, it } from "vitest";
import { openDataset } from "../../src/worlds/open-dataset.ts";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();

const rows = [
  {
    id: "a",
    question: "Where was Ada born?",
    references: ["Oslo", "Christiania"],
    annotations: {
      supportingPassages: ["p1"],
      decomposition: [{ question: "birthplace of Ada", answer: "Oslo", passage: "p1" }],
    },
  },
  {
    id: "b",
    question: "Who leads where Bo lives?",
    references: ["Eve"],
    annotations: {
      supportingPassages: ["p2", "p3"],
      decomposition: [
        { question: "home of Bo", answer: "Lima", passage: "p2" },
        { question: "mayor of #1", answer: "Eve", passage: "p3" },
      ],
    },
  },
  { id: "c", question: "Who?", references: ["Ann"] },
  { id: "d", question: "When?", references: ["1814", "in 1814"] },
  { id: "e", question: "Left over?", references: ["yes"] },
];

async function open(settings: object = {}) {
  const tasks = join(folder, "questions.jsonl");
  await writeFile(tasks, rows.map((each) => `${JSON.stringify(each)}\n`).join(""));
  return openDataset({ name: "composed", of: { name: "files", tasks }, ...settings }, "test");
}

describe("dataset composed", () => {
  it("asks questions in a row as one, with every choice of their answers", async () => {
    const [first, second, ...others] = await (await open()).tasks();
    expect(first).toMatchObject({
      id: "a+b",
      question: "Where was Ada born?; Who leads where Bo lives?",
      references: ["Oslo; Eve", "Christiania; Eve"],
      annotations: { parts: [["Oslo", "Christiania"], ["Eve"]], hops: 3 },
    });
    expect(second?.references).toEqual(["Ann; 1814", "Ann; in 1814"]);
    expect(others).toEqual([]);
  });

  it("has the steps of all, whose earlier answers are filled in", async () => {
    const [first, second] = await (await open()).tasks();
    const { decomposition = [], supportingPassages } = first!.annotations;
    expect(decomposition.map(({ question }) => question)).toEqual([
      "birthplace of Ada",
      "home of Bo",
      "mayor of Lima",
    ]);
    expect(supportingPassages).toEqual(["p1", "p2", "p3"]);
    expect(second!.annotations).not.toHaveProperty("decomposition");
  });

  it("asks for all steps of a question", async () => {
    const [, second] = await (await open({ count: 1, steps: true, between: " and " })).tasks();
    expect(second).toMatchObject({
      question: "Who leads where Bo lives?",
      references: ["Lima and Eve"],
      annotations: { parts: [["Lima"], ["Eve"]], hops: 2 },
    });
  });

  it("reads no more than it is asked for, and takes another number and text", async () => {
    const dataset = await open({ count: 3, between: " and " });
    const [only, ...others] = await dataset.tasks();
    expect(only?.question).toBe("Where was Ada born? and Who leads where Bo lives? and Who?");
    expect(others).toEqual([]);
    expect(await (await open()).tasks(1)).toHaveLength(1);
    expect(dataset.fingerprint).not.toBe((await open()).fingerprint);
  });
});
