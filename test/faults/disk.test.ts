import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { type Ended, runAgentrl } from "./agentrl-process.ts";
import { differences, productHashes } from "./same-products.ts";
import { canMount, mountDisk } from "./small-disk.ts";
import { stepsOf, trainArguments } from "./small-training.ts";

const cwd = temporaryFolder();
const run = (args: readonly string[]): Promise<Ended> => runAgentrl(args, { cwd });

const RECIPE = ["--recipe", "search-r1", "--tier", "smoke"];

/** Commands by what they write; each into a folder, some with a flag to go on. */
const COMMANDS: Record<string, { args: readonly string[]; resume: readonly string[] }> = {
  world: {
    args: ["data", "generate", "tinyworld", "--people", "300", "--questions", "8"],
    resume: ["--overwrite"],
  },
  idx: { args: ["index", "build", "plain/world/corpus.jsonl"], resume: [] },
  synth: {
    args: [
      ...["synth-data", ...RECIPE, "--dataset", "plain/world/train.jsonl", "--index", "plain/idx"],
      ...["--set", "synth.draws=[{name: plain, samples: 4}]"],
    ],
    resume: ["--resume"],
  },
  eval: {
    args: ["eval", ...RECIPE, "--dataset", "plain/world/test.jsonl", "--index", "plain/idx"],
    resume: ["--resume"],
  },
};

/** Files of a command's product, by their names in it. */
function filesOf(disk: string, name: string): Record<string, string> {
  const hashes = Object.entries(productHashes(cwd, [join(disk, name)]));
  return Object.fromEntries(hashes.map(([path, hash]) => [path.slice(disk.length + 1), hash]));
}

describe.skipIf(!canMount)("a disk that is full (mounted: needs root)", () => {
  beforeAll(async () => {
    for (const [name, { args }] of Object.entries(COMMANDS)) {
      const { status, stderr } = await run([...args, "--out", `plain/${name}`]);
      expect(status, stderr).toBe(0);
    }
    const { status, stderr } = await run(trainArguments("plain/train", 3));
    expect(status, stderr).toBe(0);
  });

  it.each(Object.keys(COMMANDS))(
    "ends %s by name; with room, it gives the same bytes",
    async (name) => {
      const disk = mountDisk(join(cwd, `full-${name}`), "20k");
      const { args, resume } = COMMANDS[name]!;
      const out = `full-${name}/${name}`;
      const full = await run([...args, "--out", out]);
      expect(full.status, full.stderr).toBe(4);
      expect(full.stderr).toMatch(/no space left on device.*\[FILE_WRITE_FAILED\]/i);
      // Whole or not at all.
      if (name === "idx") expect(readdirSync(join(cwd, `full-${name}`))).toEqual([]);
      disk.change("size=20m");
      const again = await run([...args, "--out", out, ...resume]);
      expect(again.status, again.stderr).toBe(0);
      const unlike = differences(filesOf("plain", name), filesOf(`full-${name}`, name));
      // Its paths count from the folder that it stands in.
      expect(unlike.filter((each) => !each.includes("recipe.resolved.yaml"))).toEqual([]);
    },
  );

  it("ends a training at a checkpoint; with room, it goes on from the one before", async () => {
    // One checkpoint is some 11 MB.
    const disk = mountDisk(join(cwd, "full-train"), "20m");
    const full = await run(trainArguments("full-train/train", 3));
    expect(full.status, full.stderr).toBe(4);
    expect(full.stderr).toMatch(
      /step-2: .*no space left on device.*--resume.*\[FILE_WRITE_FAILED\]/i,
    );
    const whole = join(cwd, "full-train", "train", "checkpoints", "step-1", "checkpoint.json");
    expect(existsSync(whole)).toBe(true);
    disk.change("size=100m");
    const resumed = await run([...trainArguments("full-train/train", 3), "--resume"]);
    expect(resumed.status, resumed.stderr).toBe(0);
    expect(resumed.stderr).toContain("resumes from step 1");
    expect(stepsOf(cwd, "full-train/train")).toEqual([1, 2, 3]);
    expect(differences(filesOf("plain", "train"), filesOf("full-train", "train"))).toEqual([]);
  });

  it("that is read-only is named before any work", async () => {
    mountDisk(join(cwd, "fixed"), "20m").change("ro");
    const commands = Object.entries(COMMANDS).map(([name, { args }]) => [
      ...args,
      "--out",
      `fixed/${name}`,
    ]);
    for (const args of [...commands, trainArguments("fixed/train", 3)]) {
      const { status, stderr } = await run(args);
      expect(status, stderr).toBe(4);
      expect(stderr).toMatch(/fixed\/.*read-only file system.*\[FILE_WRITE_FAILED\]/i);
    }
  });
});
