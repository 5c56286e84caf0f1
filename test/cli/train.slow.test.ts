import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sha256 } from "../../src/base/files.ts";
import { readSafetensors } from "../../src/models/safetensors.ts";
import { runCli } from "../helpers/run-cli.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const root = join(import.meta.dirname, "..", "..");

/** The smallest run of the recipe: `steps` steps of 2 questions × 2 trajectories, 4 held-out questions. */
function trainArguments(out: string, steps: number): string[] {
  const sets = [
    `algorithm.steps=${steps}`,
    "algorithm.promptsPerStep=2",
    "algorithm.groupSize=2",
    "algorithm.optimizer.learningRate=0.0001",
    "evaluation.dataset.questions=4",
    "checkpoints.every=1",
  ];
  const flags = ["--recipe", "search-r1", "--tier", "smoke", "--out", join(folder, out), "--json"];
  return ["train", ...flags, ...sets.flatMap((set) => ["--set", set])];
}

/** Everything of `metrics.jsonl` but the timings. */
function metricsOf(out: string): unknown[] {
  const lines = readFileSync(join(folder, out, "metrics.jsonl"), "utf8")
    .trim()
    .split("\n");
  return lines.map((line) => {
    const { step, data } = JSON.parse(line) as { step: number; data: unknown };
    return { step, data };
  });
}

function checkpointHash(out: string, step: number): string[] {
  return ["model.safetensors", "optimizer.safetensors"].map((file) =>
    sha256(readFileSync(join(folder, out, "checkpoints", `step-${step}`, file))),
  );
}

// Each run starts an engine; on a busy machine three of them take more than the usual minute.
describe("agentrl train", { timeout: 240_000 }, () => {
  it("gives the same metrics and checkpoint for the same seed", async () => {
    const first = await runCli(trainArguments("first", 2));
    expect(first.status, first.stderr).toBe(0);
    expect((await runCli(trainArguments("second", 2))).status).toBe(0);
    expect(metricsOf("second")).toEqual(metricsOf("first"));
    expect(checkpointHash("second", 2)).toEqual(checkpointHash("first", 2));
    const result = JSON.parse(first.stdout) as Record<string, unknown>;
    expect(result).toMatchObject({ steps: 2, eval: { before: { n: 4 }, after: { n: 4 } } });
    expect(Object.keys(result)).toEqual([
      "run",
      "device",
      "steps",
      "checkpoint",
      "wallSeconds",
      "eval",
    ]);
  });

  it("trains adapters alone where policy.lora is given, goes on from them, and eval takes them", async () => {
    // Enough trajectories that some of a group are rewarded and others not.
    const sets = ["policy.lora.rank=4", "policy.lora.rslora=true", "algorithm.groupSize=4"];
    const adapters = [...sets, "algorithm.promptsPerStep=4"].flatMap((set) => ["--set", set]);
    expect((await runCli([...trainArguments("lora", 1), ...adapters])).status).toBe(0);
    const resumed = await runCli([...trainArguments("lora", 2), ...adapters, "--resume"]);
    expect(resumed.status, resumed.stderr).toBe(0);
    const checkpoint = join(folder, "lora", "checkpoints", "step-2");
    expect(readdirSync(checkpoint).sort()).toEqual([
      ...["adapter_config.json", "adapter_model.safetensors", "checkpoint.json"],
      ...["method-state.json", "optimizer.safetensors", "training-state.json"],
    ]);
    const trained = await readSafetensors(join(checkpoint, "adapter_model.safetensors"));
    // What was zero at the start.
    const learned = [...trained.values()].filter(({ name }) => name.endsWith("lora_B.weight"));
    expect(learned.every(({ data }) => data.some((each) => each !== 0))).toBe(true);
    const flags = ["--recipe", "search-r1", "--tier", "smoke", "--json"];
    const set = ["--set", "evaluation.dataset.questions=4"];
    const evaluated = await runCli(["eval", "--policy", checkpoint, ...flags, ...set]);
    expect(evaluated.status, evaluated.stderr).toBe(0);
    const { metrics, policy } = JSON.parse(evaluated.stdout) as Record<string, object>;
    const after = readFileSync(join(folder, "lora", "eval", "after.json"), "utf8");
    expect(metrics).toEqual((JSON.parse(after) as { metrics: object }).metrics);
    expect(policy).toMatchObject({ from: checkpoint });
  });

  it("keeps a checkpoint and exits with 130 on Ctrl-C", async () => {
    const child = spawn(process.execPath, [
      join(root, "bin", "agentrl.js"),
      ...trainArguments("cut", 500),
      ...["--set", "checkpoints.every=1000"],
    ]);
    const status = await new Promise<number | null>((resolve) => {
      let text = "";
      child.stderr.on("data", (piece: Buffer) => {
        const before = text.includes(" 2/500");
        text += piece.toString();
        // Once: a second one kills.
        if (!before && text.includes(" 2/500")) child.kill("SIGINT");
      });
      child.on("exit", resolve);
    });
    expect(status).toBe(130);
    const [kept = ""] = readdirSync(join(folder, "cut", "checkpoints"));
    expect(existsSync(join(folder, "cut", "checkpoints", kept, "training-state.json"))).toBe(true);
  });
});
