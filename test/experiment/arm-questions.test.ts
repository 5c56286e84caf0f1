import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { armQuestions } from "../../src/experiment/arm-questions.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();

function runWith(name: string, files: Record<string, readonly object[]>): string {
  const path = join(folder, name);
  mkdirSync(join(path, "eval"), { recursive: true });
  for (const [when, rows] of Object.entries(files)) {
    mkdirSync(dirname(join(path, "eval", when)), { recursive: true });
    const lines = rows.map((row) => `${JSON.stringify(row)}\n`).join("");
    writeFileSync(join(path, "eval", `${when}.rows.jsonl`), lines);
  }
  return path;
}

const row = (id: string, em: number) => ({ id, sample: 0, em, answer: "x" });

describe("armQuestions", () => {
  it("reads the metric question by question, with a hash of the outcome", async () => {
    const rows = { before: [row("a", 0)], after: [row("a", 1), row("b", 0)] };
    const first = await armQuestions(runWith("one", rows), "eval.after.em");
    expect([...(first?.values ?? [])]).toEqual([
      ["a", 1],
      ["b", 0],
    ]);
    const second = await armQuestions(runWith("two", rows), "eval.after.em");
    expect(second?.outcome).toBe(first?.outcome);
    const before = await armQuestions(join(folder, "one"), "eval.before.em");
    expect(before?.outcome).not.toBe(first?.outcome);
  });

  it("reads the questions of a set", async () => {
    const rows = { after: [row("a", 1)], "transfer/after": [row("b", 0)] };
    const found = await armQuestions(runWith("sets", rows), "eval.sets.transfer.after.em");
    expect([...(found?.values ?? [])]).toEqual([["b", 0]]);
    expect(await armQuestions(join(folder, "sets"), "eval.sets.noisy.after.em")).toBeNull();
  });

  it("takes the evaluation before of a run that trained nothing", async () => {
    const found = await armQuestions(runWith("still", { before: [row("a", 1)] }), "eval.after.em");
    expect([...(found?.values ?? [])]).toEqual([["a", 1]]);
  });

  it("knows no questions of other results, other metrics and missing rows", async () => {
    const path = runWith("none", { after: [row("a", 1)] });
    expect(await armQuestions(path, "stages.sft.loss")).toBeNull();
    expect(await armQuestions(path, "eval.after.unmeasured")).toBeNull();
    expect(await armQuestions(runWith("empty", {}), "eval.after.em")).toBeNull();
  });
});
