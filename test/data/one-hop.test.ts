import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openDataset } from "../../src/worlds/open-dataset.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();

/** A row as Collab-RAG's file of 2WikiMultihopQA has it. */
function row(id: string, steps: string[], passages: Record<string, string>): unknown {
  return {
    question_id: id,
    question_text: `Question ${id}?`,
    reasoning_steps: steps,
    answers_objects: [{ spans: ["an answer"] }],
    contexts: Object.entries(passages).map(([title, text]) => ({
      title,
      paragraph_text: text,
      is_supporting: true,
    })),
  };
}

async function open(rows: unknown[], options: Record<string, unknown> = {}) {
  const tasks = join(folder, "questions.jsonl");
  await writeFile(tasks, rows.map((each) => `${JSON.stringify(each)}\n`).join(""));
  return openDataset({ name: "one-hop", of: { name: "files", tasks }, ...options }, "test");
}

const film = row("a", ["The Hunt director Jan Kowal", "Jan Kowal place of burial Gdynia"], {
  "The Hunt": "The Hunt is a film by jan kowal.",
  "Jan Kowal": "Jan Kowal lies in Gdynia.",
});

describe("dataset one-hop", () => {
  it("asks for the object of each triple, and names the subject's passage as gold", async () => {
    const found = await (await open([film])).tasks();
    expect(found.map(({ id, question, references }) => [id, question, references])).toEqual([
      ["a-0", "Who directed The Hunt?", ["Jan Kowal"]],
      ["a-1", "What is the place of burial of Jan Kowal?", ["Gdynia"]],
    ]);
    const golds = found.map(({ annotations: { context = [], supportingPassages } }) =>
      context.filter(({ id }) => supportingPassages?.includes(id)).map(({ title }) => title),
    );
    expect(golds).toEqual([["The Hunt"], ["Jan Kowal"]]);
  });

  it("leaves out triples whose passage does not contain the object, and repeated ones", async () => {
    const untold = row("b", ["The Hunt director Jan Kowal", "Jan Kowal father Adam Kowal"], {
      "The Hunt": "By Jan Kowal.",
      "Jan Kowal": "A director.",
    });
    const ids = (await (await open([film, untold])).tasks()).map(({ id }) => id);
    expect(ids).toEqual(["a-0", "a-1"]);
  });

  it("stops at the number of questions, and has a fingerprint for each number", async () => {
    const [all, one] = [await open([film]), await open([film], { questions: 1 })];
    expect((await one.tasks()).map(({ id }) => id)).toEqual(["a-0"]);
    expect(one.fingerprint).not.toBe(all.fingerprint);
  });

  it("refuses a dataset without triples", async () => {
    const dataset = await open([row("c", [], { Oslo: "A city." })]);
    await expect(dataset.tasks()).rejects.toThrow(errorWith("RECIPE_BAD_VALUE", "2wikimultihopqa"));
  });
});
