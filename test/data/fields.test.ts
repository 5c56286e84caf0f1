import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { fieldsText } from "../../src/data/fields.ts";
import { openDataFile } from "../../src/data/file-layout.ts";
import { readPassages } from "../../src/data/passages.ts";
import { loadTasks } from "../../src/data/tasks.ts";
import { datasetNamed, openDataset } from "../../src/worlds/open-dataset.ts";
import { collect } from "../helpers/collect.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();

async function written(name: string, ...records: object[]): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  return path;
}

it("finds the fields of questions by their names, and says so", async () => {
  const path = await written("own.jsonl", { qid: 7, Frage: "Wer?", gold: ["Ada", "A. Roth"] });
  expect(await loadTasks(path)).toEqual([
    { id: "7", question: "Wer?", references: ["Ada", "A. Roth"], source: "own", annotations: {} },
  ]);
  const file = await openDataFile(path);
  expect(fieldsText(file?.fields ?? {})).toBe("question ← Frage, answer ← gold, id ← qid");
});

it("finds the accepted answers of a hub's row in answers.text", async () => {
  const path = await written("hub.jsonl", {
    query: "Who?",
    answers: { text: ["Ada"], start: [1] },
  });
  expect((await loadTasks(path)).map(({ references }) => references)).toEqual([["Ada"]]);
  const file = await openDataFile(path);
  expect(file?.fields).toEqual({ question: "query", answer: "answers.text" });
});

it("numbers questions and passages that have no id", async () => {
  const questions = await written("n.jsonl", { query: "a?", gold: 42 }, { query: "b?", gold: 1.5 });
  expect((await loadTasks(questions)).map(({ id, references }) => [id, ...references])).toEqual([
    ["n-1", "42"],
    ["n-2", "1.5"],
  ]);
  const corpus = await written("c.jsonl", { heading: "Ada", body: "Ada writes." }, { body: "b" });
  expect(await collect(readPassages(corpus))).toEqual([
    { id: "c-1", title: "Ada", text: "Ada writes." },
    { id: "c-2", title: "", text: "b" },
  ]);
  expect(fieldsText((await openDataFile(corpus))?.fields ?? {})).toBe(
    "text ← body, title ← heading, id ← row number",
  );
});

it("takes the given fields, also within objects, before any known layout", async () => {
  const record = { id: "s", question: "Who?", answer: "draft", gold: { text: ["Ada"] } };
  const path = await written("given.jsonl", record);
  const fields = { answer: "gold.text" };
  expect((await loadTasks(path, { fields }))[0]?.references).toEqual(["Ada"]);
  const dataset = await openDataset(datasetNamed(path, "--dataset", fields), "--dataset");
  expect((await dataset.tasks())[0]?.references).toEqual(["Ada"]);
  const plain = await openDataset(path, "--dataset");
  expect((await plain.tasks())[0]?.references).not.toEqual(["Ada"]);
  expect(dataset.fingerprint).not.toBe(plain.fingerprint);
});

it("refuses to choose between two fields, and a field that is not there", async () => {
  const path = await written("two.jsonl", { query: "a?", gold: "x", label: "y" });
  await expect(loadTasks(path)).rejects.toThrow(
    errorWith("DATA_FIELDS_UNCLEAR", /two\.jsonl:1: .*"gold" or "label".*--answer-field/),
  );
  await expect(loadTasks(path, { fields: { answer: "goldd" } })).rejects.toThrow(
    errorWith("DATA_FIELD_UNKNOWN", /"goldd".*query, gold, label/),
  );
});

it("refuses fields for a dataset whose fields are known", () => {
  expect(() => datasetNamed("tinyworld", "--dataset", { answer: "gold" })).toThrow(
    errorWith("USAGE", "--answer-field"),
  );
});
