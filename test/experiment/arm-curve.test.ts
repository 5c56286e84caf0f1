import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { armCurve } from "../../src/experiment/arm-curve.ts";
import { parseCurveMetric } from "../../src/run/claims/curve-metric.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const base = temporaryFolder();
const fail = (sentence: string) => new Error(sentence);

const jsonl = (path: string, lines: readonly object[]): void => {
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
};

/** Rows of one evaluation: a digit per question. */
const rows = (path: string, digits: string): void => {
  const lines = Array.from(digits, (digit, i) => ({
    id: `q${i}`,
    sample: 0,
    question: `q${i}?`,
    references: ["x"],
    answer: "x",
    end: "answer",
    em: Number(digit),
    f1: Number(digit),
  }));
  jsonl(path, lines);
};

const steps = (path: string, metrics: Record<string, readonly number[]>): void => {
  const length = Math.max(...Object.values(metrics).map((values) => values.length));
  const lines = Array.from({ length }, (_, i) => ({
    step: i + 1,
    data: Object.fromEntries(
      Object.entries(metrics).flatMap(([name, values]) =>
        values[i] === undefined ? [] : [[name, values[i]]],
      ),
    ),
    timing: {},
  }));
  jsonl(path, lines);
};

const run = (name: string): string => {
  const folder = join(base, name);
  mkdirSync(join(folder, "eval"), { recursive: true });
  return folder;
};

const figure = (folder: string, path: string) => {
  const curve = parseCurveMetric(path, fail);
  if (curve === null) throw new Error(path);
  return armCurve(folder, curve, [], fail);
};

describe("armCurve", () => {
  const trained = run("trained");
  steps(join(trained, "metrics.jsonl"), {
    "rollout/reward_mean": [0, 0.2, 0.4, 0.6],
    "rollout/tokens": [100, 100, 200, 200],
  });
  rows(join(trained, "eval", "before.rows.jsonl"), "0000");
  // The evaluation on the way has the first two questions only.
  rows(join(trained, "eval", "step-2.rows.jsonl"), "01");
  rows(join(trained, "eval", "after.rows.jsonl"), "1100");

  it("follows an evaluation metric over the questions that all evaluations have", async () => {
    // q0: 0 0 1, q1: 0 1 1 at steps 0, 2, 4: means 0, .5, 1.
    const area = await figure(trained, "curve.em.area");
    expect(area).toMatchObject({ value: 0.5, isBound: false });
    expect([...(area.questions?.values ?? [])]).toEqual([
      ["q0", 0.25],
      ["q1", 0.75],
    ]);
    expect(await figure(trained, "curve.em.stepsTo(0.75)")).toEqual({
      value: 3,
      isBound: false,
      questions: null,
    });
    // 100 + 100 + 200 until step 3.
    expect((await figure(trained, "curve.em.tokensTo(0.75)")).value).toBe(400);
  });

  it("follows a metric of the steps", async () => {
    expect((await figure(trained, "curve.rollout/reward_mean.last(2)")).value).toBeCloseTo(0.5, 12);
    await expect(figure(trained, "curve.rollout/rewards.area")).rejects.toThrow(
      /has no points in .*Known: rollout\/reward_mean, rollout\/tokens/,
    );
  });

  it("puts the steps of stages one after the other", async () => {
    const staged = run("staged");
    for (const [stage, rewards] of [
      ["2-train", [0.6]],
      ["1-sft", [0, 0.3]],
    ] as const) {
      mkdirSync(join(staged, "stages", stage, "eval"), { recursive: true });
      steps(join(staged, "stages", stage, "metrics.jsonl"), { "rollout/reward_mean": rewards });
    }
    rows(join(staged, "eval", "before.rows.jsonl"), "00");
    rows(join(staged, "stages", "1-sft", "eval", "step-2.rows.jsonl"), "10");
    rows(join(staged, "eval", "after.rows.jsonl"), "11");
    expect((await figure(staged, "curve.rollout/reward_mean.stepsTo(0.45)")).value).toBe(2.5);
    // 0, .5, 1 at steps 0, 2, 3.
    expect((await figure(staged, "curve.em.area")).value).toBeCloseTo((0.5 + 0.75) / 3, 12);
  });

  it("takes an untrained policy as a level curve", async () => {
    const untrained = run("untrained");
    rows(join(untrained, "eval", "before.rows.jsonl"), "1000");
    rows(join(untrained, "eval", "after.rows.jsonl"), "1000");
    expect((await figure(untrained, "curve.em.area")).value).toBe(0.25);
    expect(await figure(untrained, "curve.em.stepsTo(0.5)")).toMatchObject({
      value: 0,
      isBound: true,
    });
  });

  it("finds the step at which an alarm sees the metric fall, whatever other metrics do", async () => {
    const fallen = run("fallen");
    const high = Array.from({ length: 20 }, () => 0.9);
    const low = Array.from({ length: 15 }, () => 0.1);
    steps(join(fallen, "metrics.jsonl"), {
      "reward/em": [...high, ...low],
      "reward/format": [...low, ...high],
      "eval/em": high,
    });
    const found = await figure(fallen, "curve.reward/em.collapse");
    expect(found.isBound).toBe(false);
    expect(found.value).toBeGreaterThan(20);
    expect(found.value).toBeLessThanOrEqual(25);
    expect(await figure(fallen, "curve.reward/format.collapse")).toMatchObject({
      value: 35,
      isBound: true,
    });
    await expect(figure(fallen, "curve.optimizer/grad_norm.collapse")).rejects.toThrow(
      "has no alarm that judges optimizer/grad_norm",
    );
  });
});
