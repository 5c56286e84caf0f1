import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { keepLines, readMetrics } from "../../../src/run/folder/metrics-log.ts";
import {
  isCurrent,
  recordRollback,
  rollbacksOf,
  setAside,
} from "../../../src/run/folder/rollbacks.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const run = temporaryFolder();
const line = (step: number, reward: number | null = 1): string =>
  `${JSON.stringify({ step, data: { "rollout/reward_mean": reward }, timing: {} })}\n`;

describe("rollbacks", () => {
  it("are none in a new run", async () => {
    expect(await rollbacksOf(run)).toEqual([]);
    await setAside(run, []);
    expect(readdirSync(run)).toEqual([]);
  });

  it("move what came after the checkpoint aside, once", async () => {
    mkdirSync(join(run, "trajectories"));
    for (const step of [1, 2, 3])
      writeFileSync(join(run, "trajectories", `step-${step}.jsonl`), `${step}`);
    mkdirSync(join(run, "eval"));
    for (const name of ["before.json", "step-1.json", "step-2.json", "step-2.rows.jsonl"])
      writeFileSync(join(run, "eval", name), name);
    const metrics = join(run, "metrics.jsonl");
    writeFileSync(metrics, `${line(1)}${line(2)}${line(3)}{"step": 4, "da`);
    const all = [{ step: 3, to: 1, alarm: "reward-drop" }];
    await recordRollback(run, all);
    expect(await rollbacksOf(run)).toEqual(all);
    await setAside(run, all);
    await keepLines(metrics, 1);
    // Killed before or after, it does the rest or nothing.
    await setAside(run, all);
    const aside = join(run, "rolled-back", "1");
    expect(readFileSync(join(aside, "metrics.jsonl"), "utf8")).toBe(line(2) + line(3));
    expect(readdirSync(join(aside, "trajectories"))).toEqual(["step-2.jsonl", "step-3.jsonl"]);
    expect(readdirSync(join(run, "trajectories"))).toEqual(["step-1.jsonl"]);
    expect(readdirSync(join(aside, "eval"))).toEqual(["step-2.json", "step-2.rows.jsonl"]);
    expect(readdirSync(join(run, "eval"))).toEqual(["before.json", "step-1.json"]);
    expect(readFileSync(metrics, "utf8")).toBe(line(1));
  });

  it("tell which checkpoints are still on the way", () => {
    const all = [
      { step: 9, to: 4, alarm: "a" },
      { step: 7, to: 2, alarm: "a" },
    ];
    const current = (step: number, attempt: number): boolean => isCurrent({ step, attempt }, all);
    expect([current(2, 0), current(4, 0), current(4, 1), current(6, 2)]).toEqual([
      ...[true, false, false, true],
    ]);
  });
});

describe("readMetrics", () => {
  it("reads numbers that are none, and drops a cut last line", async () => {
    const file = join(run, "other.jsonl");
    writeFileSync(file, `${line(1)}${line(2, null)}{"step": 3`);
    const read: unknown[] = [];
    for await (const each of readMetrics(file)) read.push(each);
    expect(read).toEqual([
      { step: 1, metrics: { "rollout/reward_mean": 1 } },
      { step: 2, metrics: { "rollout/reward_mean": NaN } },
    ]);
    for await (const each of readMetrics(join(run, "absent.jsonl"))) read.push(each);
    expect(read).toHaveLength(2);
  });
});
