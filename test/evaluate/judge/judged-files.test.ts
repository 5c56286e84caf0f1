import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { readAnswersToJudge } from "../../../src/evaluate/judge/answers-to-judge.ts";
import {
  evounaReferences,
  humanVerdictLayouts,
} from "../../../src/evaluate/judge/human-verdicts.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const at = (name: string): string => join(folder, name);
const lines = (name: string, values: readonly unknown[]): string => {
  writeFileSync(at(name), values.map((value) => `${JSON.stringify(value)}\n`).join(""));
  return at(name);
};
const row = { id: "q1", sample: 0, question: "Q1", references: ["A"], answer: "a", em: 1 };

beforeAll(() => {
  mkdirSync(at("run"));
  mkdirSync(at("failed"));
});

describe("answers to be judged", () => {
  it("come from an evaluation's folder, without rollouts that failed", async () => {
    lines("run/rows.jsonl", [
      row,
      { ...row, sample: 1, answer: null },
      { ...row, id: "q2", error: { code: "HTTP_TIMEOUT" } },
    ]);
    const { id, sample, question, references } = row;
    expect(await readAnswersToJudge({ predictions: at("run") })).toEqual({
      answers: [
        { id, sample, question, references, prediction: "a" },
        { id, sample: 1, question, references, prediction: null },
      ],
      failedRollouts: 1,
    });
  });

  it("come from a file of anybody's, numbered or by an id", async () => {
    const predictions = lines("p.jsonl", [
      { key: 7, ask: { q: "Q1" }, out: "a", gold: ["A", "B"] },
      { key: 8, ask: { q: "Q2" }, out: null, gold: "C" },
    ]);
    const fields = { questionField: "ask.q", predictionField: "out", referencesField: "gold" };
    const { answers } = await readAnswersToJudge({ predictions, ...fields });
    expect(answers).toEqual([
      { id: "1", sample: 0, question: "Q1", references: ["A", "B"], prediction: "a" },
      { id: "2", sample: 0, question: "Q2", references: ["C"], prediction: null },
    ]);
    const byId = await readAnswersToJudge({ predictions, ...fields, idField: "key" });
    expect(byId.answers.map(({ id }) => id)).toEqual(["7", "8"]);
  });

  it("are joined with questions of another file; one without an answer was not answered", async () => {
    const references = lines("questions.jsonl", [
      { id: "x", question: "Q1", references: ["A"] },
      { id: "y", question: "Q2", references: ["B"] },
    ]);
    writeFileSync(at("by-id.json"), JSON.stringify({ y: "b" }));
    const { answers } = await readAnswersToJudge({ predictions: at("by-id.json"), references });
    expect(answers).toEqual([
      { id: "x", sample: 0, question: "Q1", references: ["A"], prediction: null },
      { id: "y", sample: 0, question: "Q2", references: ["B"], prediction: "b" },
    ]);
  });

  it("need a question", async () => {
    const predictions = lines("no-question.jsonl", [{ prediction: "a", references: ["A"] }]);
    await expect(readAnswersToJudge({ predictions })).rejects.toThrow(
      errorWith("PREDICTIONS_FIELD", 'no field "question"'),
    );
  });

  it("are not read from rows that are none, or from a folder where all failed", async () => {
    lines("run/rows.jsonl", [row, { id: "q2" }]);
    await expect(readAnswersToJudge({ predictions: at("run") })).rejects.toThrow(
      errorWith("DATA_BAD_RECORD", "rows.jsonl:2: sample is missing"),
    );
    lines("failed/rows.jsonl", [{ ...row, error: { code: "HTTP_TIMEOUT" } }]);
    await expect(readAnswersToJudge({ predictions: at("failed") })).rejects.toThrow(
      errorWith("PREDICTIONS_EMPTY", "1 failed rollouts"),
    );
    await expect(readAnswersToJudge({ predictions: folder })).rejects.toThrow(
      errorWith("FILE_MISSING", "rows.jsonl"),
    );
  });
});

describe("human verdicts", () => {
  const record = {
    question: "Q",
    golden_answer: "AC/DC",
    improper: false,
    ...Object.fromEntries(
      ["fid", "gpt35", "chatgpt", "gpt4", "newbing"].flatMap((system, i) => [
        [`answer_${system}`, `answer ${i}`],
        [`judge_${system}`, i < 2],
      ]) as [string, unknown][],
    ),
  };
  const evouna = async (...records: unknown[]) => {
    writeFileSync(at("evouna.json"), JSON.stringify(records));
    return humanVerdictLayouts.get("evouna", "test").read(at("evouna.json"));
  };

  it("are read from EvOUNA, five a question, without improper questions", async () => {
    const { verdicts, improper } = await evouna(record, {
      ...record,
      improper: true,
      judge_fid: "nan",
    });
    expect(improper).toBe(1);
    expect(verdicts).toHaveLength(5);
    expect(verdicts[1]).toEqual({
      system: "gpt35",
      question: "Q",
      references: ["AC/DC", "AC", "DC"],
      prediction: "answer 1",
      human: true,
    });
  });

  it("keep an answer without a slash as it is", () => {
    expect(evounaReferences("Oslo")).toEqual(["Oslo"]);
    expect(evounaReferences("Oslo/ Kristiania/")).toEqual([
      "Oslo/ Kristiania/",
      "Oslo",
      "Kristiania",
    ]);
  });

  it("leave out an answer without text or verdict, and whatever an improper record lacks", async () => {
    const improperRecord = { improper: true, question: null, golden_answer: null };
    const gap = { ...record, answer_fid: null, judge_gpt4: "nan" };
    const { verdicts, improper, skipped } = await evouna(record, improperRecord, gap);
    expect([verdicts.length, improper]).toEqual([8, 1]);
    expect(skipped).toEqual(["record 3, system fid", "record 3, system gpt4"]);
  });

  it("name the record and system where a verdict is none", async () => {
    await expect(evouna(record, { ...record, judge_gpt4: "maybe" })).rejects.toThrow(
      errorWith("DATA_BAD_RECORD", 'record 2, system gpt4: judge is "maybe"'),
    );
  });

  it("are not read from a file without any", async () => {
    await expect(evouna()).rejects.toThrow(errorWith("DATA_EMPTY", "evouna, rows"));
  });

  it("are read from JSON lines, of one system where none is named", async () => {
    const human = { question: "Q", references: ["A"], prediction: "a", correct: true };
    const path = lines("humans.jsonl", [human, { ...human, system: "s", correct: false }]);
    const { verdicts } = await humanVerdictLayouts.get("rows", "test").read(path);
    expect(verdicts.map(({ system, human: said }) => [system, said])).toEqual([
      ["all", true],
      ["s", false],
    ]);
    const bad = lines("bad.jsonl", [human, { ...human, correct: "yes" }]);
    await expect(humanVerdictLayouts.get("rows", "test").read(bad)).rejects.toThrow(
      errorWith("DATA_BAD_RECORD", "bad.jsonl:2: correct is"),
    );
  });
});
