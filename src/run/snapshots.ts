import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { DataError } from "../base/errors.ts";
import { removeAtOnce } from "../base/files.ts";
import type { Engine } from "../engine/engine.ts";
import { checkpointFolder, stepsIn } from "./folder/checkpoints.ts";
import { recordFiles } from "../models/recorded-files.ts";
import { SNAPSHOTS_FOLDER, writeWholeFolder } from "./folder/whole-folder.ts";
import type { Settings } from "./settings/settings-schema.ts";

/** Where a run folder keeps the weights of its snapshots: `snapshots/NAME/step-N`. */

type SavingEngine = Pick<Engine, "snapshot" | "save" | "load">;

/** The name under which the engine keeps a snapshot: models of a recipe cannot take the names of other kept weights. */
export function snapshotRole(name: string): string {
  return `models.${name}`;
}

/**
 * Copies the policy's weights for the snapshots that are due at a step, in the engine and on disk, where a resumed run finds them. The
 * training loop calls it before the step's rollouts.
 * @param step from 0.
 */
export async function takeSnapshots(
  { models }: Pick<Settings, "models">,
  engine: SavingEngine,
  run: string,
  step: number,
): Promise<void> {
  for (const [name, every] of snapshotsOf(models)) {
    if (step % every !== 0) continue;
    await engine.snapshot(snapshotRole(name));
    // A run that went back takes the same step's snapshot again.
    await writeWholeFolder(snapshotFolder(run, name, step), async (partial) => {
      await engine.save(partial);
      await recordFiles(partial);
    });
    await removeUnneeded(join(run, SNAPSHOTS_FOLDER, name), {
      every,
      step,
      checkpoints: await stepsIn(run),
    });
  }
}

/**
 * Gives the engine the snapshots that a run has after a step, when it continues from that step's checkpoint. The engine holds the
 * checkpoint's weights before and after.
 * @throws {DataError} ENGINE_NO_ROLE where the run folder does not have the weights.
 */
export async function restoreSnapshots(
  { models }: Pick<Settings, "models">,
  engine: SavingEngine,
  run: string,
  step: number,
): Promise<void> {
  // Snapshots that are due at this very step are taken when it begins.
  const kept = snapshotsOf(models).filter(([, every]) => step % every !== 0);
  for (const [name, every] of kept) {
    const folder = snapshotFolder(run, name, step - (step % every));
    if (!existsSync(folder)) {
      throw new DataError(
        "ENGINE_NO_ROLE",
        `${folder} is missing: models.${name} needs these weights to continue after step ${step}. Restore the folder, or start a new run with --overwrite.`,
      );
    }
    await engine.load(folder);
    await engine.snapshot(snapshotRole(name));
  }
  if (kept.length > 0) await engine.load(checkpointFolder(run, step));
}

/** The recipe's snapshots by name, and after how many steps each is taken again. */
function snapshotsOf(models: Settings["models"]): [name: string, every: number][] {
  return Object.entries(models ?? {}).flatMap(([name, model]) =>
    "every" in model ? [[name, model.every]] : [],
  );
}

function snapshotFolder(run: string, name: string, step: number): string {
  return join(run, SNAPSHOTS_FOLDER, name, `step-${step}`);
}

/** Removes snapshots that no checkpoint needs to continue from, except the newest. */
async function removeUnneeded(
  folder: string,
  { every, step, checkpoints }: { every: number; step: number; checkpoints: readonly number[] },
): Promise<void> {
  const needed = [step, ...checkpoints.map((each) => each - (each % every))];
  const names = new Set(needed.map((each) => `step-${each}`));
  for (const name of await readdir(folder))
    if (!names.has(name)) await removeAtOnce(join(folder, name));
}
