import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { commandNamed, runCommand } from "../helpers/run-command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const evalCommand = commandNamed("eval");
const traceCommand = commandNamed("trace");

const folder = temporaryFolder();
const measured = join(folder, "measured");

it(
  "trace lint finds nothing in what an evaluation at temperature 0 wrote",
  { timeout: 60_000 },
  async () => {
    const flags = ["--recipe", "search-r1", "--tier", "smoke", "--limit", "4", "--out", measured];
    const made = await runCommand(evalCommand, ["eval", ...flags], folder);
    expect(made.status, made.stderr).toBe(0);
    const args = ["trace", "lint", join(measured, "trajectories.jsonl"), "--json"];
    const { stdout, status } = await runCommand(traceCommand, args, folder);
    expect(JSON.parse(stdout)).toMatchObject({ checked: 4, violations: [], unknown: {} });
    expect(status).toBe(0);
  },
);

it(
  "an evaluation in 8 bits says so, and its log-probabilities are not computed again",
  { timeout: 60_000 },
  async () => {
    const out = join(folder, "rounded");
    const flags = ["--recipe", "search-r1", "--tier", "smoke", "--limit", "2", "--out", out];
    const set = ["--set", "engine.samplingWeights=int8"];
    const made = await runCommand(evalCommand, ["eval", ...flags, ...set], folder);
    expect(made.status, made.stderr).toBe(0);
    const { policy } = JSON.parse(readFileSync(join(out, "results.json"), "utf8")) as {
      policy: { from: string };
    };
    expect(policy).toMatchObject({ samplingWeights: "int8" });
    const args = ["lint", join(out, "trajectories.jsonl"), "--model", policy.from, "--json"];
    const { stdout, stderr, status } = await runCommand(traceCommand, ["trace", ...args], folder);
    expect(status, stderr).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      checked: 2,
      violations: [],
      recomputed: { trajectories: 0, otherwiseDrawn: 2 },
    });
  },
);
