import { appendFileSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  type Checkpoint,
  checkpointFolder,
  newestCheckpoint,
  openCheckpoints,
  saveStart,
} from "../../../src/run/folder/checkpoints.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const root = temporaryFolder();
let count = 0;
const newRun = (): string => join(root, `run-${(count += 1)}`);

/** Writes what an engine does: weights, and the state of the optimiser. */
const engine = {
  save: (folder: string) => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "model.safetensors"), "weights");
    writeFileSync(join(folder, "training-state.json"), "{}");
    return Promise.resolve();
  },
};
const names = (run: string): string[] => readdirSync(join(run, "checkpoints")).sort();

async function steps(run: string, all: readonly number[], options: object = {}): Promise<void> {
  const settings = { every: 2, keep: 2, firstStep: 0, ...options };
  const checkpoints = await openCheckpoints(engine, run, settings);
  for (const step of all) await checkpoints.save(step);
}

/** The newest that is whole, and what is said of the others. */
async function newest(run: string): Promise<[number | null, string[]]> {
  const said: string[] = [];
  const onDamaged = ({ step }: Checkpoint, why: string) => said.push(`${step}: ${why}`);
  return [(await newestCheckpoint(run, { onDamaged }))?.step ?? null, said];
}

describe("openCheckpoints", () => {
  it("keeps the newest and the best one", async () => {
    const run = newRun();
    await steps(run, [2, 4, 6, 8, 10], { best: () => 4 });
    expect(names(run)).toEqual(["step-10", "step-4", "step-8"]);
  });

  it("keeps all where no number is set", async () => {
    const run = newRun();
    await steps(run, [2, 4, 6], { keep: null });
    expect(names(run)).toEqual(["step-2", "step-4", "step-6"]);
  });

  it("keeps what was made between two, by an interruption, until the next one, and in no other's place", async () => {
    const run = newRun();
    await steps(run, [2, 4, 5]);
    expect(names(run)).toEqual(["step-2", "step-4", "step-5"]);
    await steps(run, [6], { firstStep: 5 });
    expect(names(run)).toEqual(["step-4", "step-6"]);
  });

  it("writes a step once", async () => {
    const run = newRun();
    await steps(run, [2]);
    rmSync(join(checkpointFolder(run, 2), "model.safetensors"));
    await steps(run, [2], { firstStep: 2 });
    expect(existsSync(join(checkpointFolder(run, 2), "model.safetensors"))).toBe(false);
  });

  it("removes later steps, and what an interruption left of writing and removing", async () => {
    const run = newRun();
    await steps(run, [2, 4, 6], { keep: null });
    for (const end of ["partial", "removed"])
      mkdirSync(join(run, "checkpoints", `step-8.${end}`), { recursive: true });
    await steps(run, [], { firstStep: 4 });
    expect(names(run)).toEqual(["step-2", "step-4"]);
  });

  it("leaves what was there when a checkpoint cannot be written", async () => {
    const run = newRun();
    await steps(run, [2]);
    const full = {
      save: async (folder: string) => {
        await engine.save(folder);
        throw new Error("no space left");
      },
    };
    const checkpoints = await openCheckpoints(full, run, { every: 2, keep: 1, firstStep: 2 });
    await expect(checkpoints.save(4)).rejects.toThrow("no space left");
    // A partial checkpoint would take the room that a resumed run needs.
    expect(names(run)).toEqual(["step-2"]);
    expect(await newest(run)).toEqual([2, []]);
  });
});

describe("newestCheckpoint", () => {
  it("finds none where there is none, or only the start of a run", async () => {
    const run = newRun();
    expect(await newest(run)).toEqual([null, []]);
    mkdirSync(checkpointFolder(run, 0), { recursive: true });
    expect(await newest(run)).toEqual([null, []]);
    await saveStart(engine, run);
    expect(await newest(run)).toEqual([0, []]);
  });

  it("names those that are damaged and takes the one before", async () => {
    const run = newRun();
    await steps(run, [2, 4, 6, 8, 10, 12], { keep: null });
    const file = (step: number, name: string): string => join(checkpointFolder(run, step), name);
    writeFileSync(file(12, "checkpoint.json"), "{");
    rmSync(file(10, "checkpoint.json"));
    rmSync(file(8, "training-state.json"));
    appendFileSync(file(6, "model.safetensors"), "!");
    writeFileSync(file(4, "model.safetensors"), "weightz");
    const [step, said] = await newest(run);
    expect(step).toBe(2);
    expect(said).toEqual([
      expect.stringMatching(/^12: .*checkpoint\.json: is not JSON/),
      "10: checkpoint.json is missing",
      "8: training-state.json is missing",
      "6: model.safetensors has 8 bytes of 7",
      "4: model.safetensors is not what was written (its sha256)",
    ]);
  });

  it("passes over those of a way that the run went back from", async () => {
    const run = newRun();
    await steps(run, [2, 4, 6], { keep: null });
    const found = await newestCheckpoint(run, {
      isCurrent: ({ step, attempt }) => attempt > 0 || step <= 4,
    });
    expect(found?.step).toBe(4);
  });
});
