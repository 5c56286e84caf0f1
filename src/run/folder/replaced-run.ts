import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder, removeAtOnce } from "../../base/files.ts";
import { MANIFEST_FILE, RESOLVED_FILE } from "./run-origin.ts";

/** Folder of a replaced run until the new one has started. */
const REPLACED = "replaced";

/** Files of a run of any command; the last ones mark the folder as a run. */
const REMAINS = [
  ...["checkpoints", "snapshots", "rollbacks.json", "metrics.jsonl", "events.jsonl"],
  ...["outcome.json", "stages.json", "sft.json", "report.html"],
  ...["trajectories", "eval", "rolled-back", "stages", "policy", "policy.partial"],
  ...["reporters", "tensorboard", "wandb", RESOLVED_FILE, MANIFEST_FILE],
];

/** Moves a run aside for another. Until `removeReplaced` it can be restored, also by the next process after a kill. */
export async function setRunAside(out: string): Promise<void> {
  await makeFolder(join(out, REPLACED));
  await moveRemains(out, join(out, REPLACED));
}

/** Deletes the replaced run, because the new run has started. */
export async function removeReplaced(out: string): Promise<void> {
  await removeAtOnce(join(out, REPLACED));
}

/**
 * Ends a replacement, also another process's: restores the old run unless the new one had started.
 * @returns whether a run was restored.
 */
export async function restoreReplaced(out: string): Promise<boolean> {
  const replaced = join(out, REPLACED);
  if (!existsSync(replaced)) return false;
  // Moved last, aside and back: if both folders have one, the one here is the new run's.
  const isWhole = existsSync(join(replaced, MANIFEST_FILE));
  const hasBegun = isWhole && existsSync(join(out, MANIFEST_FILE));
  if (!hasBegun) await moveRemains(replaced, out);
  await removeReplaced(out);
  return !hasBegun;
}

async function moveRemains(from: string, to: string): Promise<void> {
  for (const name of REMAINS) {
    if (!existsSync(join(from, name))) continue;
    // Files that a run may leave before its start.
    await rm(join(to, name), { recursive: true, force: true });
    await rename(join(from, name), join(to, name));
  }
}
