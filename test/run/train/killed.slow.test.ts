import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { sha256 } from "../../../src/base/files.ts";
import { VALUE_HEAD } from "../../../src/models/parameters.ts";
import { readSafetensors } from "../../../src/models/safetensors.ts";
import { startAgentrl } from "../../faults/agentrl-process.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const root = temporaryFolder();

/** A training of four steps, each with a checkpoint. */
interface Case {
  what: string;
  recipe: string;
  set: readonly string[];
}

const PPO =
  "algorithm={ name: ppo, steps: 4, promptsPerStep: 8, minibatches: 2, klReward: { coef: 0.1, target: 0.01, horizon: 10 } }";

const CASES: readonly Case[] = [
  {
    what: "a critic of its own, with adapters",
    recipe: "search-r1",
    set: [PPO, "policy.lora={ rank: 4, alpha: 8 }", "algorithm.critic.warmup=1"],
  },
  { what: "a shared critic", recipe: "search-r1", set: [PPO, "algorithm.critic.trunk=shared"] },
  {
    what: "an interpreter that keeps its variables",
    recipe: "code-tools",
    set: [
      ...["policy.from=coding", "environment.tools=[{ name: python, persistent: true }]"],
      ...["algorithm.steps=4", "budgets.0.limit=4"],
    ],
  },
];

function command(out: string, { recipe, set }: Case): string[] {
  const settings = [
    ...set,
    ...["checkpoints.every=1", "checkpoints.keep=null", "alarms=[]"],
    ...["evaluation.dataset.questions=2", "batchCheck=false"],
  ];
  return [
    ...["train", "--recipe", recipe, "--tier", "smoke", "--out", out],
    ...settings.flatMap((each) => ["--set", each]),
  ];
}

/** Kills a training (SIGKILL) once it has so many lines of metrics. @returns whether it was killed before its end. */
async function killAfter(lines: number, args: readonly string[], out: string): Promise<boolean> {
  const metrics = join(root, out, "metrics.jsonl");
  const { child, ended } = startAgentrl([...args], { cwd: root });
  const count = (): number =>
    existsSync(metrics) ? readFileSync(metrics, "utf8").split("\n").length - 1 : 0;
  while (child.exitCode === null && count() < lines) await wait(5);
  child.kill("SIGKILL");
  return (await ended).status === null;
}

/** Checksums of a run's metrics without times, and of the files of its checkpoints, by path. */
function products(out: string): Record<string, string> {
  const folder = join(root, out);
  const metrics = readFileSync(join(folder, "metrics.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => ({ ...(JSON.parse(line) as object), timing: {} }));
  const checkpoints = join(folder, "checkpoints");
  const files = readdirSync(checkpoints, { recursive: true, encoding: "utf8" })
    .sort()
    .filter((name) => statSync(join(checkpoints, name)).isFile());
  return {
    metrics: JSON.stringify(metrics),
    ...Object.fromEntries(
      files.map((name) => [name, sha256(readFileSync(join(checkpoints, name)))]),
    ),
  };
}

describe.each(CASES)("a run with $what", { timeout: 300_000 }, (run) => {
  it("that is killed and resumed is equal to the byte", async () => {
    const [straight, killed] = [`${run.what} straight`, `${run.what} killed`];
    expect(await startAgentrl(command(straight, run), { cwd: root }).ended).toMatchObject({
      status: 0,
    });
    const args = command(killed, run);
    expect(await killAfter(2, args, killed)).toBe(true);
    const resumed = await startAgentrl([...args, "--resume"], { cwd: root }).ended;
    expect(resumed).toMatchObject({ status: 0 });
    const found = products(killed);
    expect(found).toEqual(products(straight));
    if (run.recipe === "code-tools") expect(toolCalls(killed)).toBeGreaterThan(0);
    const weights = run.set.some((each) => each.includes("lora"))
      ? "adapter_model.safetensors"
      : "model.safetensors";
    expect(join("step-4", "critic", weights) in found).toBe(weights.startsWith("adapter"));
    // Other programs read the policy's own file, which has no head.
    const policy = await readSafetensors(join(root, killed, "checkpoints", "step-4", weights));
    expect([...policy.keys()].some((name) => name.includes(VALUE_HEAD))).toBe(false);
  });
});

/** Calls of tools a trajectory, summed over the steps. */
function toolCalls(out: string): number {
  const lines = readFileSync(join(root, out, "metrics.jsonl"), "utf8")
    .trim()
    .split("\n");
  return lines.reduce((sum, line) => {
    const { data } = JSON.parse(line) as { data: Record<string, number> };
    return sum + (data["rollout/tool_calls"] ?? 0);
  }, 0);
}
