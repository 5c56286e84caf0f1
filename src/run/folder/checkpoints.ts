import { existsSync } from "node:fs";
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { readJson, removeAtOnce, writeJson } from "../../base/files.ts";
import type { z } from "../../base/schema.ts";
import type { Engine } from "../../engine/engine.ts";
import { damageOf, RECORD_FILE, recordFiles, recordOf } from "../../models/recorded-files.ts";
import type { checkpointsSchema } from "../settings/run-settings.ts";
import { removeRemains, writeWholeFolder } from "./whole-folder.ts";

type CheckpointSettings = z.output<typeof checkpointsSchema>;

/** A checkpoint from which a run can resume. */
export interface Checkpoint {
  path: string;
  /** Completed steps. */
  step: number;
}

/** The checkpoints of a running run. */
export interface Checkpoints {
  /**
   * Saves the engine's weights and optimizer state after a step, unless already saved. The folder is written under a temporary name, with
   * the checksums of its files, and then renamed; old checkpoints are removed after that.
   * @param state what the method must remember beside the weights, as JSON; undefined: nothing.
   * @throws {ExternalError} FILE_WRITE_FAILED; what was there before stays.
   */
  save(step: number, state?: unknown): Promise<void>;
}

/** What the training method must remember beside the weights. */
const METHOD_STATE_FILE = "method-state.json";

/** The method's state in a checkpoint; undefined where it has none. */
export async function methodStateOf(checkpoint: string): Promise<unknown> {
  const file = join(checkpoint, METHOD_STATE_FILE);
  return existsSync(file) ? readJson(file) : undefined;
}

/** Where a run folder keeps the checkpoint of a step; 0: what it started from. */
export function checkpointFolder(run: string, step: number): string {
  return join(run, "checkpoints", `step-${step}`);
}

/**
 * Keeps a run's checkpoints.
 *
 * @param options.firstStep completed steps. Later checkpoints are deleted: those steps will be redone.
 * @param options.attempt number of rollbacks so far.
 * @param options.best the step of the best checkpoint so far, which is kept.
 */
export async function openCheckpoints(
  engine: Pick<Engine, "save">,
  run: string,
  options: CheckpointSettings & { firstStep: number; attempt?: number; best?: () => number | null },
): Promise<Checkpoints> {
  const { every, keep, firstStep, attempt = 0, best = () => null } = options;
  const rotate = async (newest: number): Promise<void> => {
    // What was made in between, by an interruption, stays until the next one.
    const due = (await stepsIn(run)).filter((each) => each > 0 && each !== newest);
    const regular = due.filter((each) => each % every === 0).sort((a, b) => b - a);
    // It takes no other's place either: a run that was interrupted has those to go back to that an uninterrupted one has.
    const others = newest % every === 0 ? 1 : 0;
    const stay = keep === null ? regular : regular.slice(0, keep - others);
    for (const each of due) {
      if (!stay.includes(each) && each !== best()) await removeAtOnce(checkpointFolder(run, each));
    }
  };
  await removeRemains(join(run, "checkpoints"));
  for (const step of await stepsIn(run))
    if (step > firstStep) await removeAtOnce(checkpointFolder(run, step));
  // An interruption may have prevented this earlier.
  await rotate(firstStep);
  let saved = firstStep;
  return {
    async save(step, state) {
      if (step <= saved) return;
      await write(engine, run, { step, attempt, state });
      saved = step;
      await rotate(step);
    },
  };
}

/** Saves the checkpoint of a run's start, for a rollback to it. */
export async function saveStart(engine: Pick<Engine, "save">, run: string): Promise<void> {
  if (!existsSync(join(checkpointFolder(run, 0), RECORD_FILE)))
    await write(engine, run, { step: 0, attempt: 0 });
}

async function write(
  engine: Pick<Engine, "save">,
  run: string,
  { step, attempt, state }: { step: number; attempt: number; state?: unknown },
): Promise<void> {
  await writeWholeFolder(checkpointFolder(run, step), async (partial) => {
    await engine.save(partial, { optimizer: true });
    if (state !== undefined) await writeJson(join(partial, METHOD_STATE_FILE), state);
    await recordFiles(partial, { step, attempt });
  });
  await syncFolder(join(run, "checkpoints"));
}

/** Steps of the checkpoints that a run folder holds, damaged ones too, in no order. */
export async function stepsIn(run: string): Promise<number[]> {
  const folder = join(run, "checkpoints");
  if (!existsSync(folder)) return [];
  const names = await readdir(folder);
  return names.flatMap((name) => {
    const step = /^step-(\d+)$/.exec(name)?.[1];
    return step === undefined ? [] : [Number(step)];
  });
}

/** Makes the rename survive a power cut, if the file system supports it. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r").catch(() => null);
  await folder?.sync().catch(() => undefined);
  await folder?.close();
}

interface NewestCheckpointOptions {
  /** Whether the run is still on the way that a checkpoint was made on; all are when absent. */
  isCurrent?: (checkpoint: { step: number; attempt: number }) => boolean;
  /** Called for each unusable checkpoint, with the reason. */
  onDamaged?: (checkpoint: Checkpoint, why: string) => void;
}

/**
 * The newest checkpoint of a run folder whose files are as they were written; null where there is none. Step 0 is one only where the
 * run keeps it to go back to.
 */
export async function newestCheckpoint(
  run: string,
  { isCurrent = () => true, onDamaged }: NewestCheckpointOptions = {},
): Promise<Checkpoint | null> {
  for (const step of (await stepsIn(run)).sort((a, b) => b - a)) {
    const path = checkpointFolder(run, step);
    if (step === 0 && !existsSync(join(path, RECORD_FILE))) continue;
    const record = await recordOf(path);
    if (typeof record !== "string" && !isCurrent({ attempt: record.attempt ?? 0, step })) continue;
    const why = typeof record === "string" ? record : await damageOf(path, record);
    if (why === null) return { path, step };
    onDamaged?.({ path, step }, why);
  }
  return null;
}
