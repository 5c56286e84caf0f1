import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { runAgentrl, type Ended } from "./agentrl-process.ts";

const cwd = temporaryFolder();
const WITHIN_STEPS = 10;
/** A training takes half a minute, and many times that where others work on the machine. */
const TIMEOUT = { timeout: 900_000 };

/** Search-R1's smoke tier with batches of 36 trajectories, for so many steps. */
function train(name: string, steps: number, ...sets: string[]): Promise<Ended> {
  const small = [
    ...[`algorithm.steps=${steps}`, "algorithm.promptsPerStep=6", "algorithm.groupSize=6"],
    ...["dataset.people=200", "dataset.questions=200", "evaluation.dataset.questions=40"],
    ...["algorithm.optimizer.learningRate=0.00015", "checkpoints.every=2"],
  ];
  const flags = [...small, ...sets].flatMap((set) => ["--set", set]);
  const run = ["train", "--recipe", "search-r1", "--tier", "smoke", "--seed", "1", "--out", name];
  return runAgentrl([...run, "--plain", "--json", ...flags], { cwd });
}

const linesOf = <T>(...path: string[]): T[] =>
  readFileSync(join(cwd, ...path), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as T);

/** A metric of a run, step by step. */
const metricOf = (name: string, metric: string): number[] =>
  linesOf<{ data: Record<string, number> }>(name, "metrics.jsonl").map(
    ({ data }) => data[metric] ?? NaN,
  );

interface Rung {
  kind: string;
  step: number;
  message: string;
  facts: Record<string, unknown>;
}

const alarmsOf = (name: string): Rung[] =>
  linesOf<Rung>(name, "events.jsonl").filter(({ kind }) => kind === "alarm");

/**
 * Where a run's accuracy fell for good: the first step after the last one at which it was as high as its best mean of three steps.
 * The run's end tells it; alarms have to do without.
 */
function onsetOf(accuracy: readonly number[]): number {
  const means = accuracy.slice(2).map((_, i) => mean(accuracy.slice(i, i + 3)));
  const best = Math.max(...means);
  return accuracy.findLastIndex((each) => each >= best) + 2;
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, each) => sum + each, 0) / values.length;

const accuracyAfter = ({ stdout }: Ended): number =>
  (JSON.parse(stdout) as { eval: { after: { em: number } } }).eval.after.em;

const TOO_FAST = "algorithm.optimizer.learningRate=0.0045";

describe("a learning rate thirty times too high", TIMEOUT, () => {
  it("is told by default within ten steps of the onset, in words and for programs", async () => {
    const { status, stderr } = await train("fast", 10, TOO_FAST);
    expect(status, stderr).toBe(0);
    const accuracy = metricOf("fast", "reward/exact-match");
    const onset = onsetOf(accuracy);
    expect(mean(accuracy.slice(-3))).toBeLessThan(0.05);
    const [first] = alarmsOf("fast");
    expect(first?.step).toBeGreaterThanOrEqual(onset - 1);
    expect(first?.step).toBeLessThanOrEqual(onset + WITHIN_STEPS);
    expect(stderr).toContain(first?.message);
  });

  it("ends the run where the recipe says stop: rule, value, limit, and what to do", async () => {
    const alarms = "alarms=[{ name: kl-explosion, action: stop }, { name: truncation, action: stop }]"; // prettier-ignore
    const { status, stderr } = await train("stopped", 10, TOO_FAST, alarms);
    expect(status).toBe(4);
    expect(stderr).toMatch(/stopped after step \d+ by the alarm (kl-explosion|truncation)/);
    expect(stderr).toMatch(/was [\d.]+ over steps \d+ to \d+; at most [\d.]+ is allowed/);
    expect(stderr).toMatch(/--replay-batch \d+/);
    expect(stderr).toContain("--resume");
    const done = metricOf("stopped", "reward/exact-match");
    expect(done.length).toBeLessThan(10);
    // As far as it went it is the run that was only warned.
    expect(done).toEqual(metricOf("fast", "reward/exact-match").slice(0, done.length));
  });

  it("ends better where the recipe says rollback", async () => {
    const alarms = "alarms=[{ name: kl-explosion, action: rollback }, { name: truncation, action: rollback }]"; // prettier-ignore
    const ended = await train("back", 10, TOO_FAST, alarms, "rollback.learningRateFactor=0.03");
    expect(ended.status).toBe(0);
    expect(existsSync(join(cwd, "back", "rolled-back", "1", "metrics.jsonl"))).toBe(true);
    expect(ended.stderr).toMatch(/went back from step \d+ to step \d+/);
    const rates = metricOf("back", "optimizer/learning_rate");
    expect(rates.at(-1)).toBeCloseTo(0.0045 * 0.03, 9);
    const collapsed = JSON.parse(readFileSync(join(cwd, "fast", "eval", "after.json"), "utf8")) as {
      metrics: { em: number };
    };
    expect(accuracyAfter(ended)).toBeGreaterThan(collapsed.metrics.em + 0.1);
  });
});

describe("a reward that can be had without answering, and no KL to the reference", TIMEOUT, () => {
  it("is told within ten steps after accuracy began to fall, while what is paid for rises", async () => {
    const rewards = "rewards=[{ name: retrieval-hit, weight: 1 }, { name: exact-match, weight: 0 }]"; // prettier-ignore
    const faster = "algorithm.optimizer.learningRate=0.0003";
    const larger = ["algorithm.promptsPerStep=8", "algorithm.groupSize=8"];
    const { status } = await train("hacked", 14, rewards, faster, "algorithm.klCoef=0", ...larger);
    expect(status).toBe(0);
    const accuracy = metricOf("hacked", "reward/exact-match");
    const onset = onsetOf(accuracy);
    const paid = metricOf("hacked", "rollout/reward_mean");
    expect(mean(paid.slice(-3))).toBeGreaterThan(mean(paid.slice(0, 3)));
    expect(mean(accuracy.slice(-3))).toBeLessThan(Math.max(...accuracy) / 2);
    const [first] = alarmsOf("hacked");
    expect(first?.step).toBeGreaterThanOrEqual(onset);
    expect(first?.step).toBeLessThanOrEqual(onset + WITHIN_STEPS);
  });
});

describe("the same training as it is shipped", TIMEOUT, () => {
  it("rings nothing, and learns", async () => {
    const ended = await train("sound", 10);
    expect(ended.status).toBe(0);
    expect(alarmsOf("sound")).toEqual([]);
    const accuracy = metricOf("sound", "reward/exact-match");
    expect(mean(accuracy.slice(-3))).toBeGreaterThan(mean(accuracy.slice(0, 3)) + 0.1);
  });
});
