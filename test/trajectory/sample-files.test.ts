import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readPairs, readSamples } from "../../src/trajectory/sample-files.ts";
import type { Sample } from "../../src/trajectory/sample.ts";
import { collect } from "../helpers/collect.ts";
import { errorWith } from "../helpers/error-with.ts";
import { answered, task } from "../helpers/search-world.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();

const sample: Sample = {
  id: "capital/plain-0",
  task,
  trajectory: answered("Oslo"),
  weight: 1,
  scores: {},
  provenance: {
    agentrl: "0.1.0",
    settings: "5e771265",
    teacher: { name: "gold-chain" },
    draw: { name: "plain", number: 0 },
    strategy: "agent",
    template: "7e",
    retriever: "bm",
    dataset: "da",
    seed: 1,
    steps: [],
  },
};

function fileOf(...rows: unknown[]): string {
  const path = join(folder, "rows.jsonl");
  writeFileSync(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  return path;
}

describe("files of samples", () => {
  it("give their rows as they were written, with their places", async () => {
    // Keys in an order of their own, and one that nobody here knows.
    const { id, ...rest } = sample;
    const row = { ...rest, id, note: "by hand" };
    const [first] = await collect(readSamples(fileOf(row)));
    expect(first?.where).toBe(`${join(folder, "rows.jsonl")}:1`);
    expect(JSON.stringify(first?.row)).toBe(JSON.stringify(row));
  });

  it.each([
    ["no weight", { ...sample, weight: undefined }, /:2: is not a sample .*: weight is missing/],
    ["a weight below 0", { ...sample, weight: -1 }, "weight is -1: expected at least 0."],
    [
      "a reference of no text",
      { ...sample, task: { ...task, references: [7] } },
      "task.references",
    ],
    ["no question", { ...sample, task: undefined }, "task is missing"],
    ["no turns", { ...sample, trajectory: { id: "a", calls: [], end: "x" } }, "trajectory.turns"],
    ["no provenance", { ...sample, provenance: {} }, "provenance.settings is missing"],
    ["no object", 7, "the line is 7"],
  ])("refuse a row with %s by its line", async (_, row, message) => {
    await expect(collect(readSamples(fileOf(sample, row)))).rejects.toThrow(
      errorWith("DATA_BAD_RECORD", message),
    );
  });

  it("refuse a line that is cut, and a file that is not there", async () => {
    const path = fileOf(sample);
    writeFileSync(path, `${JSON.stringify(sample)}\n{"id":`);
    await expect(collect(readSamples(path))).rejects.toThrow(
      errorWith("JSONL_BAD_LINE", "rows.jsonl:2"),
    );
    await expect(collect(readSamples(join(folder, "none.jsonl")))).rejects.toThrow(
      errorWith("FILE_MISSING"),
    );
  });
});

describe("files of pairs", () => {
  const { task: _, ...candidate } = sample;
  const pair = { id: "capital/0", task, chosen: candidate, rejected: candidate, margin: 1 };

  it("give their rows, and refuse samples", async () => {
    expect(await collect(readPairs(fileOf(pair)))).toHaveLength(1);
    await expect(collect(readPairs(fileOf(pair, sample)))).rejects.toThrow(
      errorWith("DATA_BAD_RECORD", /:2: is not a preference pair .*: chosen is missing/),
    );
    const backwards = fileOf({ ...pair, fromTurn: -1 });
    await expect(collect(readPairs(backwards))).rejects.toThrow(
      errorWith("DATA_BAD_RECORD", "fromTurn is -1"),
    );
  });
});
