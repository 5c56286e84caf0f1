import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { commandNamed, runCommand } from "../helpers/run-command.ts";
import { writeRun } from "../helpers/run-folder.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const runsCommand = commandNamed("runs");

const folder = temporaryFolder();
const run = (...args: string[]) => runCommand(runsCommand, ["runs", ...args]);
const rewards = [0.25, 0.5];
const one = writeRun(join(folder, "one"), { rewards, before: [0, 1], after: [1, 1], seed: 1 });
writeRun(join(folder, "deep", "two"), { rewards, steps: 9, seed: 2 });
writeRun(join(folder, "broken"), { files: { "metrics.jsonl": "{no\n{}\n" } });

describe("agentrl runs list", () => {
  it("lists every run below a folder; what cannot be read with the reason, never a crash", async () => {
    const { stdout, status } = await run("list", folder);
    expect(status).toBe(0);
    expect(stdout).toMatch(/^run +recipe +tier +seed +steps +state +EM +last written +size$/m);
    expect(stdout).toMatch(/^one +search-r1 +smoke +1 +2\/2 +finished +0\.500 → 1\.000 +\d{4}-/m);
    expect(stdout).toMatch(/^deep\/two +search-r1 +smoke +2 +2\/9 +interrupted +– /m);
    expect(stdout).toContain("broken/metrics.jsonl:1: is not JSON");
  });

  it("gives one JSON document", async () => {
    const { stdout } = await run("list", folder, "--json");
    const { runs } = JSON.parse(stdout) as { runs: Record<string, unknown>[] };
    expect(runs).toHaveLength(3);
    expect(runs.find(({ name }) => name === "one")).toMatchObject({
      path: one,
      kind: "train",
      steps: { done: 2, planned: 2 },
      state: "finished",
      em: { before: 0.5, after: 1 },
      seed: 1,
      stages: [],
      troubles: [],
    });
  });

  it("refuses a folder that is not there", async () => {
    const { status, stderr } = await run("list", join(folder, "nowhere"));
    expect([status, stderr]).toEqual([3, expect.stringContaining("there is no such folder")]);
  });
});

describe("agentrl runs show", () => {
  it("tells settings laid over the recipe, the last step, evaluations, and how to go on", async () => {
    const { stdout, status } = await run("show", join(folder, "deep", "two"));
    expect(status).toBe(0);
    expect(stdout).toContain("settings that override the recipe (2 of 5)");
    expect(stdout).toMatch(/^ {2}seed +2 +--seed$/m);
    expect(stdout).toMatch(/^ +step 2$/m);
    expect(stdout).toContain(`agentrl resume ${join(folder, "deep", "two")}`);
    const { stdout: json } = await run("show", one, "--json");
    expect(JSON.parse(json)).toMatchObject({
      version: "0.1.0",
      hashes: { dataset: "made-1" },
      last: { step: 2 },
      evaluations: [{ name: "before" }, { name: "after", metrics: { em: 1 } }],
    });
  });

  it("refuses a folder that holds no run", async () => {
    const { status, stderr } = await run("show", folder);
    expect([status, stderr]).toEqual([3, expect.stringContaining("is no run")]);
  });
});

describe("agentrl runs report", () => {
  it("writes a page into the folder of one run, and elsewhere of several", async () => {
    const { stdout, status } = await run("report", one);
    expect([status, stdout.trim()]).toEqual([0, join(one, "report.html")]);
    expect(readFileSync(join(one, "report.html"), "utf8")).toMatch(
      /^<!doctype html>.*<\/html>\n$/s,
    );
    const two = join(folder, "deep", "two");
    const refused = await run("report", one, two);
    expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining("--out")]);
    const out = join(folder, "both.html");
    expect((await run("report", one, two, "--out", out)).status).toBe(0);
    expect(existsSync(out)).toBe(true);
    expect(existsSync(join(two, "report.html"))).toBe(false);
  });

  it("refuses a run named twice", async () => {
    const { status, stderr } = await run("report", one, `${one}/`, "--out", "x.html");
    expect([status, stderr]).toEqual([2, expect.stringContaining("is named twice")]);
  });

  it("shows a run whose last line is being written", async () => {
    const place = writeRun(join(folder, "under-way"), { rewards });
    writeFileSync(join(place, "metrics.jsonl"), `{"step":3,"data`, { flag: "a" });
    expect((await run("report", place, "--out", join(folder, "now.html"))).status).toBe(0);
  });
});
