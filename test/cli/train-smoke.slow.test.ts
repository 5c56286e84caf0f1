import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Trajectory } from "../../src/trajectory/trajectory.ts";
import { runCli } from "../helpers/run-cli.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();

describe("agentrl train", () => {
  it("trains the smallest run, and eval measures its checkpoint as the run did", async () => {
    const out = join(folder, "trained");
    const questions = ["--set", "evaluation.dataset.questions=4"];
    const recipe = ["--recipe", "search-r1", "--tier", "smoke", "--json", ...questions];
    const sets = ["steps=1", "promptsPerStep=2", "groupSize=2"];
    const flags = sets.flatMap((set) => ["--set", `algorithm.${set}`]);
    const trained = await runCli(["train", ...recipe, ...flags, "--out", out]);
    expect(trained.status, trained.stderr).toBe(0);
    const { steps, checkpoint } = JSON.parse(trained.stdout) as {
      steps: number;
      checkpoint: string;
    };
    expect(steps).toBe(1);
    expect(trained.stderr).toMatch(
      /Next:\n +\S.* report \S+trained .*\n +\S.* ask --policy \S+trained /,
    );
    const [line = ""] = readFileSync(join(out, "metrics.jsonl"), "utf8").split("\n");
    expect(JSON.parse(line)).toMatchObject({
      step: 1,
      data: { "rollout/reward_mean": expect.any(Number) as number },
    });
    const evaluated = await runCli(["eval", "--policy", checkpoint, ...recipe]);
    expect(evaluated.status, evaluated.stderr).toBe(0);
    const { metrics } = JSON.parse(evaluated.stdout) as { metrics: object };
    const after = readFileSync(join(out, "eval", "after.json"), "utf8");
    expect((JSON.parse(after) as { metrics: object }).metrics).toEqual(metrics);
  });

  it("trains on an expression over a model's reward and one that addresses turns", async () => {
    const out = join(folder, "expression");
    const sets = [
      ...[
        "algorithm.steps=1",
        "evaluation.dataset.questions=2",
        "models={ frozen: { from: base } }",
      ],
      "rewards=[exact-match, { name: answer-likelihood, role: frozen, as: likely }, { name: tool-outcome, per: turn, as: ran }]",
      "reward=exact-match + 0.1 * likely + 0.5 * ran",
    ];
    const flags = sets.flatMap((set) => ["--set", set]);
    const run = await runCli([
      "train",
      "--recipe",
      "search-r1",
      "--tier",
      "smoke",
      ...flags,
      "--out",
      out,
    ]);
    expect(run.status, run.stderr).toBe(0);
    const lines = readFileSync(join(out, "trajectories", "step-1.jsonl"), "utf8")
      .trim()
      .split("\n");
    const named = (line: string) => {
      const { reward, rewards } = JSON.parse(line) as Pick<Trajectory, "reward" | "rewards">;
      const sum = (name: string) =>
        rewards.reduce((all, each) => all + (each.name === name ? (each.value ?? NaN) : 0), 0);
      return { reward, expected: sum("exact-match") + 0.1 * sum("likely") + 0.5 * sum("ran") };
    };
    expect(lines).toHaveLength(16);
    for (const { reward, expected } of lines.map(named)) expect(reward).toBeCloseTo(expected);
    expect(lines.some((line) => line.includes('"name":"ran"'))).toBe(true);
  });
});

describe("agentrl sft", () => {
  it("runs the literate policy's recipe at its smallest, from fresh weights", async () => {
    const run = await runCli([
      "sft",
      "--recipe",
      "literate",
      "--tier",
      "smoke",
      "--out",
      join(folder, "sft"),
      "--json",
    ]);
    expect(run.status, run.stderr).toBe(0);
    const result = JSON.parse(run.stdout) as { steps: number; loss: number; checkpoint: string };
    expect(result.steps).toBe(2);
    // An untrained model over 2 160 tokens knows ln 2160 ≈ 7.7 nats.
    expect(result.loss).toBeGreaterThan(6);
    expect(result.loss).toBeLessThan(9.3);
    expect(existsSync(join(result.checkpoint, "model.safetensors"))).toBe(true);
  });
});
