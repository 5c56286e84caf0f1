import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { toHuggingFaceConfig } from "../../src/models/config-json.ts";
import type { Plan } from "../../src/run/plan/plan.ts";
import { commandNamed, runCommand } from "../helpers/run-command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { tinyConfig } from "../helpers/tiny-model.ts";

const recipesCommand = commandNamed("recipes");

const folder = temporaryFolder();
const model = join(folder, "tiny");
mkdirSync(model);
const config = { ...tinyConfig, maxPositions: 512 };
writeFileSync(join(model, "config.json"), JSON.stringify(toHuggingFaceConfig(config)));

const plan = (...more: string[]) => planOf(model, ...more);

const planOf = (policy: string, ...more: string[]) =>
  runCommand(
    recipesCommand,
    [
      ...["recipes", "plan", "search-r1", "--tier", "smoke", "--model", policy],
      ...["--no-probe", "--set", "engine.workers=1", ...more],
    ],
    `${folder}/`,
  );

describe("agentrl recipes plan", () => {
  it("shows the model, the batch and the memory, largest part first", async () => {
    const { stdout, stderr, status } = await plan("--memory", "1GB", "--device", "cpu");
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    const shown = new Map(
      stdout.split("\n").map((line): [string, string] => {
        const [label = "", ...values] = line.split(/ {2,}/);
        return [label, values.join(" ")];
      }),
    );
    expect(Object.fromEntries(shown)).toMatchObject({
      "search-r1, tier smoke": "",
      model: "tiny (qwen2)",
      parameters: expect.stringContaining("25,248") as string,
      device: "cpu",
      "a step": "4 prompts × 4 = 16 trajectories",
      "longest sequence": expect.stringMatching(/^500 tokens: .* 5 × 48 .* 4 × 120 /) as string,
      optimiser: "2 updates per step (1 epoch × 2 minibatches)",
      "micro-batches": expect.stringMatching(/ 2 .* 8 /) as string,
      "2 steps": expect.stringMatching(/ 7,680 .* 16,000 /) as string,
    });
    const parts = [...stdout.matchAll(/^(\S.*?) +\d+\.\d ([kMG])B$/gm)].map(([, part]) => part);
    expect(parts.at(0)).toBe("the process itself");
    expect(parts.at(-1)).toBe("forecast at the peak, of the process");
    expect(parts).toContain("optimiser's moments");
    expect(stdout).toContain("Fits in 1.0 GB.");
    expect(stdout).toContain("--no-probe");
  });

  it("says how frozen weights are held, and whether that rounds them", async () => {
    const frozen = async (policy: string, held: string): Promise<string | undefined> => {
      const sets = ["--set", "policy.lora.rank=2", "--set", `engine.frozenWeights=${held}`];
      const { stdout } = await planOf(policy, "--device", "cpu", ...sets);
      return /frozen weights +(.*)/.exec(stdout)?.[1];
    };
    const published = "Qwen/Qwen2.5-0.5B";
    expect(await frozen(model, "auto")).toBe("float32");
    expect(await frozen(model, "float16")).toBe("float16; their stored dtype is unknown");
    expect(await frozen(published, "auto")).toBe("bfloat16, as stored");
    expect(await frozen(published, "float16")).toBe(
      "float16, rounded: they are stored as bfloat16",
    );
  });

  it("says what it assumes of --device auto, and that a card's memory is not known", async () => {
    expect((await plan("--memory", "1GB")).stdout).toContain(
      "processor (auto: too small for a GPU)",
    );
    const { stdout, status } = await plan("--device", "webgpu");
    expect(status).toBe(0);
    expect(stdout).toContain("No budget: give the card's with --memory, e.g. --memory 24GB.");
  });

  it("is one JSON document with --json", async () => {
    const { stdout } = await plan("--memory", "1GB", "--json");
    const found = JSON.parse(stdout) as Plan;
    expect(found.model.parameters).toBe(25_248);
    expect(found.memory).toMatchObject({ budget: 1e9, fits: true });
    expect(found.memory.parts.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(found.memory.total);
    expect(found).toMatchObject({ fitting: null, smallest: null, batch: { trajectories: 16 } });
  });

  it("ends with status 2 over the budget, and names the flags that fit", async () => {
    const sets = ["--set", "engine.microBatchTokens=16384", "--memory", "400MB"];
    const { stdout, stderr, status } = await plan(...sets);
    expect(status).toBe(2);
    expect(stdout).toContain("Does not fit in 400.0 MB.");
    expect(stderr).toMatch(
      /the memory forecast is \d+\.\d MB, and 400\.0 MB are available\. This fits, at 3\d\d\.\d MB: --set engine\.microBatchTokens=\d+ \[PLAN_OVER_BUDGET\]/,
    );
    const flags = /--set engine\.\S+/.exec(stderr)?.[0].split(" ") ?? [];
    expect((await plan("--memory", "400MB", ...flags)).status).toBe(0);
  });

  it("says that nothing fits where nothing does", async () => {
    const { stderr, status } = await plan("--memory", "1MB");
    expect(status).toBe(2);
    expect(stderr).toContain("nor do adapters or any model known here. [PLAN_OVER_BUDGET]");
  });
});
