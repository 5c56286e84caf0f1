import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Trajectory } from "../../src/trajectory/trajectory.ts";

/** What a run made by hand holds; what is not given is not written. */
export interface MadeRun {
  recipe?: string;
  seed?: number;
  klCoef?: number;
  /** Planned. */
  steps?: number;
  /** By step from 1: reward. */
  rewards?: readonly number[];
  /** Further settings. */
  settings?: object;
  /** Beside the rewards, on every step's line. */
  more?: Readonly<Record<string, number>>;
  /** Rows of the held-out questions: exact match of each. */
  before?: readonly number[];
  after?: readonly number[];
  fingerprint?: string;
  events?: readonly object[];
  /** By step. */
  trajectories?: Readonly<Record<number, readonly Trajectory[]>>;
  /** Further files by path, as text. */
  files?: Readonly<Record<string, string>>;
}

/** Writes the folder of a run of reinforcement as agentrl train does. */
export function writeRun(folder: string, run: MadeRun = {}): string {
  const { seed = 1, klCoef = 0.001, rewards = [], more = {}, steps = rewards.length } = run;
  const { fingerprint = "aaaaaaaaaaaa", trajectories = {}, recipe = "search-r1" } = run;
  const { settings = {} } = run;
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  put(
    "recipe.resolved.yaml",
    [
      `# Resolved from recipes/${recipe}.yaml, tier smoke. Behind each value: where it comes from.`,
      "",
      "summary: made by hand",
      "base:",
      `  seed: ${seed} # --seed`,
      "  policy:",
      "    from: base # default",
      "  algorithm:",
      `    name: grpo # recipes/${recipe}.yaml:20`,
      `    steps: ${steps} # recipes/${recipe}.yaml:40 (tier smoke)`,
      `    klCoef: ${klCoef} # --set`,
      // Flow style, which YAML takes as it is.
      ...Object.entries(settings).map(([key, value]) => `  ${key}: ${JSON.stringify(value)}`),
      "tiers:",
      "  smoke: {}",
      "",
    ].join("\n"),
  );
  const hashes = { policy: "ab12", dataset: "made-1", evaluationDataset: "made-2" };
  const machine = { node: "v20", device: "cpu", memoryBytes: 8e9 };
  put(
    "manifest.json",
    JSON.stringify({ agentrl: "0.1.0", recipe, tier: "smoke", hashes, machine }),
  );
  put("metrics.jsonl", metricsText(rewards, more));
  if (run.events !== undefined) put("events.jsonl", jsonl(run.events));
  for (const [step, own] of Object.entries(trajectories))
    put(`trajectories/step-${step}.jsonl`, jsonl(own));
  for (const name of ["before", "after"] as const) {
    const rows = run[name];
    if (rows === undefined) continue;
    const em = rows.reduce((sum, value) => sum + value, 0) / rows.length;
    const metrics = { em, f1: em };
    const intervals = { em: [Math.max(0, em - 0.1), Math.min(1, em + 0.1)] };
    put(`eval/${name}.json`, JSON.stringify({ n: rows.length, metrics, intervals, fingerprint }));
    const lines = rows.map((value, i) => ({
      id: `q${i}`,
      sample: 0,
      question: `Where is ${i}?`,
      references: ["Oslo"],
      answer: "Oslo",
      em: value,
      f1: value,
    }));
    put(`eval/${name}.rows.jsonl`, jsonl(lines));
  }
  for (const [path, text] of Object.entries(run.files ?? {})) put(path, text);
  return folder;
}

/** Lines of a log: rewards of steps from `first` on, two seconds and 200 tokens a second each. */
export function metricsText(
  rewards: readonly number[],
  more: Readonly<Record<string, number>> = {},
  first = 1,
): string {
  return jsonl(
    rewards.map((reward, i) => ({
      step: first + i,
      data: { "rollout/reward_mean": reward, ...more },
      timing: { rollout: 500, update: 1500, tokensPerSecond: 200 },
    })),
  );
}

function jsonl(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join("");
}
