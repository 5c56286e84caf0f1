import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCli } from "../helpers/run-cli.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();

describe("agentrl train", () => {
  it("trains the smallest run, and eval measures its checkpoint as the run did", () => {
    const out = join(folder, "trained");
    const questions = ["--set", "evaluation.dataset.questions=4"];
    const recipe = ["--recipe", "search-r1", "--tier", "smoke", "--json", ...questions];
    const sets = ["steps=1", "promptsPerStep=2", "groupSize=2"];
    const flags = sets.flatMap((set) => ["--set", `algorithm.${set}`]);
    const trained = runCli(["train", ...recipe, ...flags, "--out", out]);
    expect(trained.status, trained.stderr).toBe(0);
    const { steps, checkpoint } = JSON.parse(trained.stdout) as {
      steps: number;
      checkpoint: string;
    };
    expect(steps).toBe(1);
    const [line = ""] = readFileSync(join(out, "metrics.jsonl"), "utf8").split("\n");
    expect(JSON.parse(line)).toMatchObject({
      step: 1,
      data: { "rollout/reward_mean": expect.any(Number) as number },
    });
    const evaluated = runCli(["eval", "--policy", checkpoint, ...recipe]);
    expect(evaluated.status, evaluated.stderr).toBe(0);
    const { metrics } = JSON.parse(evaluated.stdout) as { metrics: object };
    const after = readFileSync(join(out, "eval", "after.json"), "utf8");
    expect((JSON.parse(after) as { metrics: object }).metrics).toEqual(metrics);
  });

  it("names the nearest key and part of a recipe that is wrong", () => {
    const key = runCli(["train", "--recipe", "search-r1", "--set", "algorithm.groupsize=4"]);
    expect(key.status).toBe(2);
    expect(key.stderr).toContain('Did you mean "groupSize"?');
    const part = runCli([
      "train",
      "--recipe",
      "search-r1",
      "--set",
      "rewards=[{name: exact_match}]",
    ]);
    expect(part.status).toBe(2);
    expect(part.stderr).toContain('Did you mean "exact-match"?');
  });
});

describe("agentrl sft", () => {
  it("runs the base policy's recipe at its smallest", () => {
    const run = runCli([
      "sft",
      "--recipe",
      "base-policy",
      "--tier",
      "smoke",
      "--out",
      join(folder, "sft"),
      "--json",
    ]);
    expect(run.status, run.stderr).toBe(0);
    const result = JSON.parse(run.stdout) as { steps: number; loss: number; checkpoint: string };
    expect(result.steps).toBe(2);
    // An untrained model over some 1 600 words knows ln 1600 ≈ 7.4 nats.
    expect(result.loss).toBeGreaterThan(6);
    expect(result.loss).toBeLessThan(9);
    expect(existsSync(join(result.checkpoint, "model.safetensors"))).toBe(true);
  });
});
