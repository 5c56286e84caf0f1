import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { predictionFields } from "../../src/evaluate/prediction-fields.ts";
import { readPredictionRows } from "../../src/evaluate/predictions.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
function written(name: string, record: object): string {
  const path = join(folder, name);
  writeFileSync(path, `${JSON.stringify(record)}\n`);
  return path;
}

describe("fields of predictions", () => {
  it("are found by their names, also in rows of a hub", async () => {
    const predictions = written("own.jsonl", { qid: 7, pred: "ada", answers: { text: ["Ada"] } });
    expect(await predictionFields({ predictions })).toEqual({
      prediction: "pred",
      references: "answers.text",
      id: "qid",
      guessed: ["prediction", "references", "id"],
    });
    expect(await readPredictionRows({ predictions })).toEqual([
      ["7", { prediction: "ada", references: ["Ada"] }],
    ]);
  });

  it("are the defaults where the file has them, whatever else it has", async () => {
    const record = { id: 1, prediction: "a", references: ["b"], answer: "c", output: "d" };
    const fields = await predictionFields({ predictions: written("both.jsonl", record) });
    expect(fields).toMatchObject({ prediction: "prediction", references: "references" });
    expect(fields.guessed).toEqual([]);
  });

  it("are not guessed where two names fit, and an answer is never taken for a prediction", async () => {
    const two = { prediction: "x", answer: "a", gold: "b" };
    const unclear = predictionFields({ predictions: written("two.jsonl", two) });
    await expect(unclear).rejects.toThrow(
      errorWith("PREDICTIONS_FIELD", /"answer" or "gold".*--references-field/),
    );
    const alone = written("alone.jsonl", { answer: "x", references: ["a"] });
    await expect(readPredictionRows({ predictions: alone })).rejects.toThrow(
      errorWith("PREDICTIONS_FIELD", '"prediction"'),
    );
  });

  it("join a map of answers with SQuAD's own file", async () => {
    const predictions = written("map.json", { a1: "Ada" });
    const qas = [{ id: "a1", question: "Who?", answers: [{ text: "Ada", answer_start: 0 }] }];
    const article = { title: "Ada", paragraphs: [{ context: "Ada.", qas }] };
    const references = written("squad.json", { version: "1.1", data: [article] });
    expect(await readPredictionRows({ predictions, references })).toEqual([
      ["a1", { prediction: "Ada", references: ["Ada"] }],
    ]);
  });
});
