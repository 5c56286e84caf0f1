import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readComparedRun } from "../../../src/experiment/compare/read-compared-run.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const cwd = temporaryFolder();

function write(path: string, records: readonly unknown[]): string {
  const file = join(cwd, path);
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  return file;
}

const rows = [
  { id: "a", sample: 0, question: "Why?", references: ["so"], answer: "so", em: 1, hops: 2 },
  { id: "a", sample: 1, question: "Why?", references: ["so"], answer: null, em: 0, hops: 2 },
  { id: 7, sample: 0, answer: null, em: 0, error: { code: "HTTP_TIMEOUT" }, type: "bridge" },
];

describe("readComparedRun", () => {
  it("reads the folder of an evaluation: draws by question, failures apart, the protocol", async () => {
    write("run/rows.jsonl", rows);
    const results = {
      fingerprint: "ab",
      protocol: { topK: {} },
      seed: 3,
      policy: { from: "base" },
    };
    write("run/results.json", [{ ...results, readsGold: true, dataset: "tinyworld" }]);
    const run = await readComparedRun(join(cwd, "run"));
    expect([...run.questions.keys()]).toEqual(["a", "7"]);
    expect(run.questions.get("a")).toMatchObject({
      question: "Why?",
      references: ["so"],
      hops: "2-hop",
      errors: 0,
      draws: [
        { answer: "so", values: { em: 1 } },
        { answer: null, values: { em: 0 } },
      ],
    });
    expect(run.questions.get("7")).toMatchObject({ type: "bridge", draws: [], errors: 1 });
    expect(run).toMatchObject({
      metrics: ["em"],
      fingerprint: "ab",
      protocol: { topK: {} },
      facts: { policy: "base", seed: 3, readsGold: true, dataset: "tinyworld" },
    });
  });

  it("takes a training run's evaluation after training", async () => {
    write("trained/eval/after.rows.jsonl", rows);
    write("trained/eval/after.json", [{ fingerprint: "cd" }]);
    const run = await readComparedRun(join(cwd, "trained"));
    expect(run).toMatchObject({ fingerprint: "cd", protocol: null, facts: {} });
  });

  it("reads rows of other programs: numbers, yes and no, and those in `metrics`", async () => {
    const file = write("other.jsonl", [{ id: 1, metrics: { judge: true, f1: 0.5 }, note: "x" }]);
    const run = await readComparedRun(file);
    expect(run.questions.get("1")?.draws).toEqual([
      { answer: null, values: { judge: 1, f1: 0.5 } },
    ]);
    expect(run).toMatchObject({ fingerprint: null, protocol: null });
  });

  it("scores predictions", async () => {
    const file = write("p.jsonl", [
      { id: "a", prediction: "The Oslo", references: ["Oslo"] },
      { id: "b", prediction: null, references: ["Lima"] },
    ]);
    const run = await readComparedRun(file);
    expect(run.questions.get("a")?.draws[0]).toMatchObject({
      answer: "The Oslo",
      values: { em: 1, f1: 1, answer_rate: 1 },
    });
    expect(run.questions.get("b")?.draws[0]).toMatchObject({ values: { em: 0, answer_rate: 0 } });
    expect(run.metrics).toEqual(expect.arrayContaining(["em", "f1", "cover_em"]));
  });

  it("refuses what is not there, rows without an id, and rows that stand twice", async () => {
    await expect(readComparedRun(join(cwd, "none"))).rejects.toThrow(errorWith("FILE_MISSING"));
    mkdirSync(join(cwd, "empty"));
    await expect(readComparedRun(join(cwd, "empty"))).rejects.toThrow(
      errorWith("FILE_MISSING", "has neither rows.jsonl"),
    );
    const nameless = write("nameless.jsonl", [...rows, { em: 1 }]);
    await expect(readComparedRun(nameless)).rejects.toThrow(
      errorWith("COMPARE_ROW", /nameless\.jsonl:4: "id" is missing/),
    );
    const twice = write("twice.jsonl", [...rows, rows[0]]);
    await expect(readComparedRun(twice)).rejects.toThrow(
      errorWith("COMPARE_ROW", 'question "a", sample 0, occurs a second time here'),
    );
  });
});
