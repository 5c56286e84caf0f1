import {
  appendFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { type Ended, runAgentrl, startAgentrl } from "./agentrl-process.ts";
import { differences, productHashes } from "./same-products.ts";
import { trainArguments } from "./small-training.ts";

const cwd = temporaryFolder();
const STEPS = 3;
const train = (out: string, ...more: string[]): Promise<Ended> =>
  runAgentrl(trainArguments(out, STEPS, ...more), { cwd });
const at = (...names: string[]): string => join(cwd, ...names);

/** A copy of the finished run, which the test damages. */
function copyOf(name: string): string {
  cpSync(at("straight"), at(name), { recursive: true });
  return at(name);
}

/** Its files as those of the run that nobody disturbed; its settings name the folder nowhere. */
function expectSameAsStraight(name: string): void {
  const [one, other] = ["straight", name].map((run) => {
    const hashes = Object.entries(productHashes(cwd, [run]));
    return Object.fromEntries(hashes.map(([path, hash]) => [path.replace(`${run}/`, ""), hash]));
  });
  expect(differences(one ?? {}, other ?? {})).toEqual([]);
}

beforeAll(async () => {
  const { status, stderr } = await train("straight");
  expect(status, stderr).toBe(0);
});

describe("a training's damaged checkpoint", () => {
  it("is named, with what is wrong, and the one before it is gone on from", async () => {
    const run = copyOf("damaged");
    const weights = join(run, "checkpoints", "step-3", "model.safetensors");
    const bytes = readFileSync(weights);
    bytes[5000] = (bytes[5000] ?? 0) ^ 1;
    writeFileSync(weights, bytes);
    truncateSync(join(run, "checkpoints", "step-2", "optimizer.safetensors"), 1000);
    const { status, stderr } = await train("damaged", "--resume");
    expect(status, stderr).toBe(0);
    expect(stderr).toMatch(
      /damaged\/checkpoints\/step-3: .*model\.safetensors is not what was written/,
    );
    expect(stderr).toMatch(
      /damaged\/checkpoints\/step-2: .*optimizer\.safetensors has 1000 bytes of \d+/,
    );
    expect(stderr).toContain("resumes from step 1");
    expectSameAsStraight("damaged");
  });

  it("may lack a file or all: without any that is whole the run begins anew, and says so", async () => {
    const checkpoints = join(copyOf("hollow"), "checkpoints");
    rmSync(join(checkpoints, "step-3", "config.json"));
    rmSync(join(checkpoints, "step-2"), { recursive: true });
    mkdirSync(join(checkpoints, "step-2"));
    rmSync(join(checkpoints, "step-1", "checkpoint.json"));
    const { status, stderr } = await train("hollow", "--resume");
    expect(status, stderr).toBe(0);
    expect(stderr).toMatch(/step-3: .*config\.json is missing/);
    expect(stderr).toMatch(/step-2: .*checkpoint\.json is missing/);
    expect(stderr).toContain("no checkpoint: starts again");
    expectSameAsStraight("hollow");
  });
});

describe("a training's metrics", () => {
  it("may end in half a line; one that is damaged elsewhere is named, and the run goes on without it", async () => {
    const run = copyOf("metrics");
    const file = join(run, "metrics.jsonl");
    rmSync(join(run, "eval", "after.json"));
    const whole = readFileSync(file, "utf8");
    writeFileSync(file, whole.replace("\n", '\n{"step": 1, "da\n'));
    const refused = await train("metrics", "--resume");
    expect(refused).toMatchObject({ status: 3 });
    expect(refused.stderr).toMatch(/metrics\.jsonl:2: is not JSON .*\[JSONL_BAD_LINE\]/);
    // As the message says; and the end as a cut write leaves it.
    writeFileSync(file, whole);
    appendFileSync(file, '{"step":3,"data":{"ro');
    const { status, stderr } = await train("metrics", "--resume");
    expect(status, stderr).toBe(0);
    expectSameAsStraight("metrics");
  });
});

describe("the folder of a run", () => {
  it("is refused to a new run, to one that is done, to other settings and to another recipe", async () => {
    const before = productHashes(cwd, ["straight"]);
    const refusals: [Ended, RegExp][] = [
      [
        await train("straight"),
        /already contains a run.*--resume.*--out.*--overwrite.*\[RUN_EXISTS\]/,
      ],
      [
        await train("straight", "--resume"),
        /step 3 of 3; nothing is left to do.*\[RUN_NOTHING_LEFT\]/,
      ],
      [
        await train("straight", "--resume", "--seed", "9", "--set", "algorithm.groupSize=4"),
        /other settings \(seed: 1 → 9; algorithm\.groupSize: 2 → 4\).*\[RUN_SETTINGS_CHANGED\]/,
      ],
    ];
    for (const [{ status, stderr }, said] of refusals) {
      expect(status, stderr).toBe(2);
      expect(stderr).toMatch(said);
    }
    expect(differences(before, productHashes(cwd, ["straight"]))).toEqual([]);
  });

  it("is begun by --resume where nothing is there", async () => {
    mkdirSync(at("empty"));
    const { status, stderr } = await train("empty", "--resume");
    expect(status, stderr).toBe(0);
    expect(stderr).toContain("no checkpoint: starts again");
    expectSameAsStraight("empty");
  });

  it("is written by one process at a time: a second one is told which, and harms nothing", async () => {
    const first = startAgentrl(trainArguments("shared", STEPS), { cwd });
    while (!first.said().includes(" 1/3")) await new Promise((done) => setTimeout(done, 20));
    const second = await train("shared", "--resume");
    expect(second).toMatchObject({ status: 4 });
    expect(second.stderr).toContain(`process ${first.child.pid ?? 0} on`);
    expect(second.stderr).toContain("[RUN_BUSY]");
    const { status, stderr } = await first.ended;
    expect(status, stderr).toBe(0);
    expectSameAsStraight("shared");
  });

  it("that is moved away under a run ends it by name; put back, it is gone on with", async () => {
    const running = startAgentrl(trainArguments("moved", STEPS), { cwd });
    while (!running.said().includes(" 1/3")) await new Promise((done) => setTimeout(done, 20));
    renameSync(at("moved"), at("away"));
    const { status, stderr } = await running.ended;
    expect(status, stderr).toBe(4);
    expect(stderr).toMatch(/moved: was removed or moved away .*\[RUN_FOLDER_GONE\]/);
    rmSync(at("moved"), { recursive: true, force: true });
    renameSync(at("away"), at("moved"));
    const resumed = await train("moved", "--resume");
    expect(resumed.status, resumed.stderr).toBe(0);
    expectSameAsStraight("moved");
  });
});
