import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readPredictionRows, readPredictions } from "../../src/evaluate/predictions.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();

async function file(name: string, content: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

function lines(...records: unknown[]): string {
  return records.map((record) => `${JSON.stringify(record)}\n`).join("");
}

describe("readPredictions", () => {
  it("reads tables, and keeps the ids of records", async () => {
    const predictions = await file(
      "t.csv",
      'id,prediction,references\nq1,Oslo,"[""Oslo""]"\n,x,y\n',
    );
    expect(await readPredictionRows({ predictions })).toEqual([
      ["q1", { prediction: "Oslo", references: ["Oslo"] }],
      ["2", { prediction: "x", references: ["y"] }],
    ]);
    const numbered = await file("n.csv", "prediction,references\nOslo,Oslo\n");
    expect((await readPredictionRows({ predictions: numbered })).map(([id]) => id)).toEqual(["1"]);
  });

  it("reads answers and references from one file, by dotted paths", async () => {
    const predictions = await file(
      "one.jsonl",
      lines(
        { out: { text: " Oslo " }, gold: [{ spans: ["Oslo", "Kristiania"] }] },
        { out: { text: 1912 }, gold: [{ spans: "1912" }] },
        { out: { text: null }, gold: [{ spans: [true] }] },
      ),
    );
    const fields = { predictionField: "out.text", referencesField: "gold.0.spans" };
    expect(await readPredictions({ predictions, ...fields })).toEqual([
      { prediction: " Oslo ", references: ["Oslo", "Kristiania"] },
      { prediction: "1912", references: ["1912"] },
      { prediction: null, references: ["yes"] },
    ]);
  });

  it("reads a JSON array as it reads lines", async () => {
    const predictions = await file("a.json", '[{"prediction": "a", "references": "b"}]');
    expect(await readPredictions({ predictions })).toEqual([
      { prediction: "a", references: ["b"] },
    ]);
  });

  it("joins an object from id to answer with references elsewhere; absent answers count", async () => {
    const references = await file(
      "gold.jsonl",
      lines({ qid: "x", answer: "1" }, { qid: "y", answer: "2" }, { qid: 3, answer: "3" }),
    );
    const joined = [
      { prediction: null, references: ["1"] },
      { prediction: "two", references: ["2"] },
      { prediction: "three", references: ["3"] },
    ];
    const place = { references, referencesField: "answer", idField: "qid" };
    const flat = await file("flat.json", '{"3": "three", "y": "two"}');
    expect(await readPredictions({ predictions: flat, ...place })).toEqual(joined);
    const nested = await file("nested.json", '{"answer": {"y": "two", "3": "three"}, "sp": {}}');
    expect(
      await readPredictions({ predictions: nested, predictionField: "answer", ...place }),
    ).toEqual(joined);
    const records = await file(
      "records.jsonl",
      lines({ qid: "y", prediction: "two" }, { qid: "3", prediction: "three" }),
    );
    expect(await readPredictions({ predictions: records, ...place })).toEqual(joined);
  });

  it("names the line, the field and the nearest one when a field is missing", async () => {
    const predictions = await file("f.jsonl", lines({ prediction: "a", refrence: "b" }));
    await expect(readPredictions({ predictions })).rejects.toThrow(
      `${predictions}:1: has no field "references". Did you mean "refrence"? Known: prediction, refrence.`,
    );
  });

  it("names the line and the value when a field holds something else", async () => {
    const predictions = await file("t.jsonl", lines({ prediction: ["a"], references: [] }));
    await expect(readPredictions({ predictions })).rejects.toThrow(
      `${predictions}:1: "prediction" is ["a"]; it must be text`,
    );
    await expect(readPredictions({ predictions, predictionField: "prediction.0" })).rejects.toThrow(
      `${predictions}:1: "references" is []; it must be an accepted answer`,
    );
  });

  it("refuses lines that are not JSON, empty files, unknown ids and repeated ids", async () => {
    const broken = await file("broken.jsonl", '{"prediction": "a", "references": "b"}\n{"pred');
    await expect(readPredictions({ predictions: broken })).rejects.toThrow(`${broken}:2: is not`);
    const empty = await file("empty.jsonl", "\n");
    await expect(readPredictions({ predictions: empty })).rejects.toThrow(
      expect.objectContaining({ code: "PREDICTIONS_EMPTY" }) as Error,
    );
    const references = await file("g.jsonl", lines({ id: "x", references: "1" }));
    const other = await file("other.json", '{"z": "1"}');
    await expect(readPredictions({ predictions: other, references })).rejects.toThrow(
      `id "z" is not in ${references}`,
    );
    await expect(readPredictions({ predictions: other, references })).rejects.toThrow(
      expect.objectContaining({ code: "PREDICTIONS_UNMATCHED" }) as Error,
    );
    const twice = await file("twice.jsonl", lines({ id: 1, prediction: "" }, { id: "1" }));
    await expect(readPredictions({ predictions: twice, references })).rejects.toThrow(
      `${twice}:2: id "1" is already at ${twice}:1`,
    );
  });
});
