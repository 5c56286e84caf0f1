import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { SynthResult } from "../../src/run/synth/run-synth.ts";
import { commandNamed, runCommand } from "../helpers/run-command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const synthDataCommand = commandNamed("synth-data");

const folder = temporaryFolder();
const questions = join(
  ...[import.meta.dirname, "..", "..", "..", "shared", "data", "hotpotqa"],
  "dev-500-paragraphs.jsonl",
);
const run = (...flags: string[]) =>
  runCommand(synthDataCommand, ["synth-data", ...flags], `${folder}/`);

// Needs ../shared: 500 questions of HotpotQA with their paragraphs.
describe.skipIf(!existsSync(questions))("agentrl synth-data on HotpotQA", () => {
  it("has a trajectory for nearly every question, and makes rows of it again to the byte", async () => {
    const steps = "synth.steps=[answered, correct, format, executed]";
    const flags = ["--dataset", questions, "--out", join(folder, "hotpot"), "--set", steps];
    const { stdout, status } = await run(...flags, "--json");
    expect(status).toBe(0);
    const { yields, hashes, ...result } = JSON.parse(stdout) as SynthResult;
    expect(result).toMatchObject({ tier: "paper", questions: 500, failures: {} });
    const [drawn] = yields;
    // What a teacher gives up is the only loss: nothing that it ended is thrown out.
    expect(Object.keys(drawn?.dropped ?? {})).toEqual(["teacher gave up"]);
    expect(drawn?.out).toBeGreaterThan(475);
    expect(yields.at(-1)?.out).toBe(drawn?.out);
    const file = join(folder, "hotpot", "samples.jsonl");
    const ids = readFileSync(file, "utf8")
      .split("\n")
      .flatMap((line) => (line === "" ? [] : [(JSON.parse(line) as { id: string }).id]));
    const some = [0, 123, 250, 377, ids.length - 1].map((i) => ids[i] ?? "");
    const again = await run("again", file, ...some.flatMap((id) => ["--id", id]), "--json");
    expect(again.status).toBe(0);
    expect(JSON.parse(again.stdout)).toMatchObject({ rows: 5, same: 5, unlike: [] });
    expect(hashes.dataset).toMatch(/^files-/);
  });
});
