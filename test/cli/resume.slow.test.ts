import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCli } from "../helpers/run-cli.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const at = (...names: string[]): string => join(folder, ...names);
const smoke = ["--recipe", "search-r1", "--tier", "smoke"];

async function done(...args: string[]): Promise<void> {
  const { status, stderr } = await runCli(args);
  expect(status, stderr).toBe(0);
}

describe("agentrl resume", () => {
  it("continues a training from its newest checkpoint, to the byte", async () => {
    await done("train", ...smoke, "--out", at("train"), "--set", "checkpoints.every=1");
    cpSync(at("train"), at("cut"), { recursive: true });
    rmSync(at("cut", "checkpoints", "step-2"), { recursive: true });
    rmSync(at("cut", "eval", "after.json"));
    await done("resume", at("cut"));
    const files = ["eval/after.json", "checkpoints/step-2/model.safetensors", "run.json"];
    for (const file of [...files, "recipe.resolved.yaml"])
      expect(readFileSync(at("cut", file)).equals(readFileSync(at("train", file))), file).toBe(
        true,
      );
    const outcome = readFileSync(at("cut", "outcome.json"), "utf8");
    expect(JSON.parse(outcome)).toEqual({ state: "finished", message: null });
    const again = await runCli(["resume", at("cut")]);
    expect([again.status, again.stderr]).toEqual([2, expect.stringContaining("RUN_NOTHING_LEFT")]);
  });

  it("continues an evaluation with the rows that are missing, and with its own flags", async () => {
    await done("eval", ...smoke, "--policy", "base", "--limit", "3", "--out", at("eval"));
    const [rows, results] = ["rows.jsonl", "results.json"].map((name) => at("eval", name));
    const [whole, measured] = [rows!, results!].map((file) => readFileSync(file, "utf8"));
    if (whole === undefined) throw new Error("no rows");
    writeFileSync(rows!, whole.slice(0, whole.indexOf("\n") + 1));
    rmSync(results!);
    await done("resume", at("eval"));
    expect(readFileSync(rows!, "utf8")).toBe(whole);
    expect(readFileSync(results!, "utf8")).toBe(measured);
  });

  it("continues a synthesis with the draws that are missing", async () => {
    await done("synth-data", ...smoke, "--out", at("synth"));
    const draws = at("synth", "draws.jsonl");
    const whole = readFileSync(draws, "utf8");
    writeFileSync(draws, whole.slice(0, whole.indexOf("\n") + 1));
    await done("resume", at("synth"));
    expect(readFileSync(draws, "utf8")).toBe(whole);
  });

  it("refuses a folder without a run", async () => {
    const { status, stderr } = await runCli(["resume", folder]);
    expect([status, stderr]).toEqual([2, expect.stringContaining("holds no run that has started")]);
  });
});
