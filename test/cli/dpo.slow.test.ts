import { readFileSync } from "node:fs";
import { cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { sha256 } from "../../src/base/files.ts";
import { dpoCommand } from "../../src/cli/commands/dpo.ts";
import { trainCommand } from "../../src/cli/commands/train.ts";
import { madePair, madeTrajectory } from "../helpers/made-pairs.ts";
import { commandNamed, runCommand } from "../helpers/run-command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { writeTinyModel } from "../helpers/tiny-model.ts";

const synthDataCommand = commandNamed("synth-data");

const folder = temporaryFolder();
const at = (name: string): string => join(folder, name);

/** Text of a model that was asked over a server: the better side searches, the worse one does not. */
async function writePairs(file: string, count: number): Promise<void> {
  const lines = Array.from({ length: count }, (_, i) => {
    const better = madeTrajectory(`a${i}`, [
      { text: " one search", reply: " river" },
      { text: " two" },
    ]);
    const worse = madeTrajectory(`b${i}`, [{ text: ` three${i % 2 === 0 ? "" : " one"}` }]);
    return `${JSON.stringify(madePair(`p${i}`, better, worse))}\n`;
  });
  await writeFile(at(file), lines.join(""));
}

beforeAll(async () => {
  await writeTinyModel(at("model"));
  await writePairs("pairs.jsonl", 6);
  await writePairs("held.jsonl", 2);
});

function run(out: string, ...more: string[]) {
  const sets = [
    "preference.pairsPerStep=2",
    "preference.epochs=2",
    "preference.validateEvery=3",
    "preference.optimizer.learningRate=0.001",
    "checkpoints.every=2",
    "engine.workers=1",
  ];
  const flags = ["--recipe", "search-r1", "--tier", "smoke"];
  const model = more.includes("--model") ? [] : ["--model", at("model")];
  const data = more.includes("--data") ? [] : ["--data", at("pairs.jsonl")];
  const set = sets.flatMap((each) => ["--set", each]);
  const args = ["dpo", ...flags, ...model, ...data, "--out", at(out), "--json", ...set, ...more];
  return runCommand(dpoCommand, args, folder);
}

const metricsOf = (out: string): unknown[] =>
  readFileSync(join(at(out), "metrics.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => {
      const { step, data } = JSON.parse(line) as { step: number; data: unknown };
      return { step, data };
    });

const hashOf = (out: string, file: string): string => sha256(readFileSync(join(at(out), file)));

describe("agentrl dpo", { timeout: 120_000 }, () => {
  it("learns to prefer, measures held-out pairs, and leaves the policy alone", async () => {
    const { stdout, stderr, status } = await run("first", "--validation-data", at("held.jsonl"));
    expect(status, stderr).toBe(0);
    const result = JSON.parse(stdout) as Record<string, Record<string, Record<string, number>>>;
    expect(result).toMatchObject({ steps: 6, pairs: 6, skipped: {}, stoppedEarly: false });
    const { before, after } = result["validation"]!;
    expect(before!["validation/losses/preference"]).toBeCloseTo(Math.log(2), 5);
    expect(after!["validation/losses/preference"]).toBeLessThan(Math.log(2));
    expect(after!["validation/rewards/accuracy"]).toBe(1);
    expect(stderr).toContain("6 pairs of /pairs.jsonl; 6 steps");
    expect(hashOf("first", "policy/model.safetensors")).toHaveLength(64);
    const manifest = JSON.parse(readFileSync(join(at("first"), "manifest.json"), "utf8")) as object;
    expect(manifest).toMatchObject({ steps: 6 });
  });

  it("goes on from a checkpoint as if it had not stopped, against the same reference", async () => {
    expect((await run("straight")).status).toBe(0);
    // Two of the three steps of an epoch, as an interruption leaves them.
    const half = await run("resumed", "--set", "preference.epochs=1");
    expect(half.status, half.stderr).toBe(0);
    const resumed = await run("resumed", "--resume");
    expect(resumed.status, resumed.stderr).toBe(0);
    expect(metricsOf("resumed")).toEqual(metricsOf("straight"));
    const checkpoint = "checkpoints/step-6/model.safetensors";
    expect(hashOf("resumed", checkpoint)).toBe(hashOf("straight", checkpoint));
    expect((await run("resumed", "--resume")).stderr).toContain("RUN_NOTHING_LEFT");
    await writePairs("others.jsonl", 4);
    const other = await run("resumed", "--resume", "--data", at("others.jsonl"));
    expect(other.stderr).toContain("RUN_DATA_CHANGED");
  });

  it("goes on from a policy that has moved, and not on other weights in its place", async () => {
    expect((await run("moved", "--set", "preference.epochs=1")).status).toBe(0);
    await cp(at("model"), at("elsewhere"), { recursive: true });
    const moved = await run("moved", "--resume", "--model", at("elsewhere"));
    expect(moved.status, moved.stderr).toBe(0);
    const weights = at("first/policy");
    const other = await run(
      "moved",
      "--resume",
      "--set",
      "preference.epochs=3",
      "--model",
      weights,
    );
    expect(other.stderr).toContain("RUN_DATA_CHANGED");
  });

  it("goes on with no other command's run, and replaces no draws", async () => {
    const metrics = metricsOf("first");
    const flags = ["--recipe", "search-r1", "--tier", "smoke", "--model", at("model")];
    const asked = [...flags, "--out", at("first"), "--resume"];
    const { stderr, status } = await runCommand(trainCommand, ["train", ...asked], folder);
    expect(status).toBe(2);
    expect(stderr).toMatch(/contains a run of the stage preference.*\[RUN_EXISTS\]/);
    const draw = ["synth-data", "draw", "--limit", "2", "--out", at("first")];
    expect((await runCommand(synthDataCommand, draw, folder)).stderr).toMatch(
      /contains a run of the stage preference.*\[RUN_EXISTS\]/,
    );
    expect(metricsOf("first")).toEqual(metrics);
    const drawn = await runCommand(synthDataCommand, [...draw.slice(0, -1), at("draws")], folder);
    expect(drawn.status, drawn.stderr).toBe(0);
    const manifest = readFileSync(join(at("draws"), "manifest.json"), "utf8");
    for (const flag of ["--resume", "--overwrite"]) {
      const over = await run("draws", flag);
      expect(over.stderr).toMatch(/contains a run of the stage synth.*\[RUN_EXISTS\]/);
    }
    expect(readFileSync(join(at("draws"), "manifest.json"), "utf8")).toBe(manifest);
  });

  it("stops when the held-out loss no longer falls, and goes back to the best", async () => {
    // The held-out pairs prefer what the training pairs reject, so that their loss rises with each step.
    const held = readFileSync(at("held.jsonl"), "utf8").trim().split("\n");
    const swapped = held.map((line) => {
      const pair = JSON.parse(line) as { chosen: unknown; rejected: unknown };
      return `${JSON.stringify({ ...pair, chosen: pair.rejected, rejected: pair.chosen })}\n`;
    });
    await writeFile(at("against.jsonl"), swapped.join(""));
    const args = ["validateEvery=1", "patience=2"].flatMap((set) => ["--set", `preference.${set}`]);
    const flags = ["--validation-data", at("against.jsonl"), ...args];
    const { stdout, stderr, status } = await run("stopped", ...flags);
    expect(status, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ stoppedEarly: true });
  });

  it("says which pairs are missing or of no use", async () => {
    const none = await run("none", "--data", at("absent.jsonl"));
    expect(none.status).toBe(3);
    expect(none.stderr).toContain("FILE_MISSING");
    const empty = madePair(
      "p",
      madeTrajectory("a", [{ text: "" }]),
      madeTrajectory("b", [{ text: "" }]),
    );
    await writeFile(at("empty.jsonl"), `${JSON.stringify(empty)}\n`);
    const { stderr, status } = await run("empty", "--data", at("empty.jsonl"));
    expect(status).toBe(3);
    expect(stderr).toMatch(/1 compare nothing.*PAIRS_UNUSABLE/);
  });
});
