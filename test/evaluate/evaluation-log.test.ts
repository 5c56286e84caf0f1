import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openEvaluationLog } from "../../src/evaluate/evaluation-log.ts";
import type { EvaluationRow } from "../../src/evaluate/evaluation-row.ts";
import type { Task } from "../../src/trajectory/task.ts";
import type { Trajectory } from "../../src/trajectory/trajectory.ts";
import { errorWith } from "../helpers/error-with.ts";
import { madeRow } from "../helpers/evaluation-rows.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const root = temporaryFolder();
const tasks = ["a", "b", "c"].map((id): Task => ({
  id,
  question: `${id}?`,
  references: ["x"],
  source: "test",
  annotations: {},
}));
const row = (id: string, more: Partial<EvaluationRow> = {}): EvaluationRow =>
  madeRow(id, 1, { question: `${id}?`, ...more });
const trajectory = (id: string): Trajectory => ({
  id: `${id}/0`,
  taskId: id,
  groupId: id,
  purpose: "eval",
  seed: 1,
  calls: [],
  turns: [],
  answer: "x",
  end: "answered",
  rewards: [],
  reward: null,
});
const read = (folder: string, file: string): string => readFileSync(join(folder, file), "utf8");

/** Writes rows as an evaluation that never finished. */
async function interrupted(name: string, rows: readonly EvaluationRow[]): Promise<string> {
  const folder = join(root, name);
  const log = await openEvaluationLog(folder, { identity: "i", resume: false });
  for (const each of rows) await log.append(each, trajectory(each.id));
  await log.close();
  return folder;
}

describe("openEvaluationLog", () => {
  it("gives back the rows of an interrupted evaluation, but for a half-written line", async () => {
    const folder = await interrupted("cut", [row("a"), row("b")]);
    appendFileSync(join(folder, "rows.jsonl"), '{"key":"i-12');
    const log = await openEvaluationLog(folder, { identity: "i", resume: true });
    expect(log.kept).toBe(2);
    expect(tasks.map((task) => log.known(task, 0))).toEqual([row("a"), row("b"), undefined]);
    expect(log.known(tasks[0]!, 1)).toBeUndefined();
    expect(log.known({ ...tasks[0]!, references: ["y"] }, 0)).toBeUndefined();
    await log.close();
  });

  it("tries again what ended in an error, and ends with the files of a straight run", async () => {
    const rows = tasks.map(({ id }) => row(id));
    const straight = await interrupted("straight", rows);
    const error = { boundary: "tool", code: "TOOL_FAILED", message: "down" };
    const failed = row("a", { end: "tool-error", error });
    const folder = await interrupted("errors", [failed, row("b")]);
    const log = await openEvaluationLog(folder, { identity: "i", resume: true });
    expect(log.kept).toBe(1);
    expect(tasks.map((task) => log.known(task, 0)?.id)).toEqual([undefined, "b", undefined]);
    await log.append(row("a"), trajectory("a"));
    await log.append(row("c"), trajectory("c"));
    await log.finish({ n: 3 });
    await log.close();
    for (const file of ["rows.jsonl", "trajectories.jsonl"]) {
      expect(read(folder, file)).toBe(read(straight, file));
    }
    expect(JSON.parse(read(folder, "results.json"))).toEqual({ n: 3 });
  });

  it("keeps no times, so that two runs of one seed write the same", async () => {
    const folder = join(root, "times");
    const log = await openEvaluationLog(folder, { identity: "i", resume: false });
    await log.append(row("a"), { ...trajectory("a"), timings: { modelMs: 12 } });
    await log.close();
    expect(JSON.parse(read(folder, "trajectories.jsonl"))).toEqual(trajectory("a"));
  });

  it("drops a trajectory whose row was never written", async () => {
    const straight = await interrupted("both", [row("a"), row("b")]);
    const folder = await interrupted("torn", [row("a")]);
    appendFileSync(
      join(folder, "trajectories.jsonl"),
      `${JSON.stringify(trajectory("b"))}\n{"id":`,
    );
    const log = await openEvaluationLog(folder, { identity: "i", resume: true });
    for (const task of tasks.slice(0, 2)) log.known(task, 0);
    await log.append(row("b"), trajectory("b"));
    await log.finish({});
    await log.close();
    for (const file of ["rows.jsonl", "trajectories.jsonl"]) {
      expect(read(folder, file)).toBe(read(straight, file));
    }
  });

  it("throws nothing away: rows that a resumed run does not ask for end it", async () => {
    const folder = await interrupted("more", [row("a"), row("b"), row("c")]);
    const before = read(folder, "rows.jsonl");
    const log = await openEvaluationLog(folder, { identity: "i", resume: true });
    for (const task of tasks.slice(0, 2)) log.known(task, 0);
    await expect(log.finish({ n: 2 })).rejects.toThrow(
      errorWith("EVALUATION_EXISTS", "has 1 rows of questions or draws"),
    );
    await log.close();
    expect(read(folder, "rows.jsonl")).toBe(before);
  });

  it("refuses rows that are there without --resume, and those of another policy or protocol", async () => {
    const folder = await interrupted("there", [row("a")]);
    const before = read(folder, "rows.jsonl");
    await expect(openEvaluationLog(folder, { identity: "i", resume: false })).rejects.toThrow(
      expect.objectContaining({ code: "EVALUATION_EXISTS" }),
    );
    await expect(openEvaluationLog(folder, { identity: "other", resume: true })).rejects.toThrow(
      /rows\.jsonl:1: was measured with another policy/,
    );
    expect(read(folder, "rows.jsonl")).toBe(before);
  });

  it("begins anew where --resume finds nothing, and names a folder that cannot be made", async () => {
    const log = await openEvaluationLog(join(root, "new"), { identity: "i", resume: true });
    expect(log.kept).toBe(0);
    await log.close();
    writeFileSync(join(root, "file"), "");
    const inFile = openEvaluationLog(join(root, "file", "x"), { identity: "i", resume: false });
    await expect(inFile).rejects.toThrow(expect.objectContaining({ code: "FILE_WRITE_FAILED" }));
  });
});
