import { existsSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { makeFolder, removeAtOnce } from "../../base/files.ts";
import { MANIFEST_FILE, RESOLVED_FILE } from "./run-origin.ts";

/** Where a run lies that is to be replaced, until the new one has begun. */
const REPLACED = "replaced";

/** What a run leaves in its folder, whichever command ran it; last what says that there is a run. */
const REMAINS = [
  ...["checkpoints", "snapshots", "rollbacks.json", "metrics.jsonl", "events.jsonl"],
  ...["outcome.json", "stages.json", "sft.json", "report.html"],
  ...["trajectories", "eval", "rolled-back", "stages", "policy", "policy.partial"],
  ...["reporters", "tensorboard", RESOLVED_FILE, MANIFEST_FILE],
];

/** Makes room for another run. Until `removeReplaced`, what was there can be brought back, by whoever comes next after a kill too. */
export async function setRunAside(out: string): Promise<void> {
  await makeFolder(join(out, REPLACED));
  await moveRemains(out, join(out, REPLACED));
}

/** The new run has begun: what it replaces goes. */
export async function removeReplaced(out: string): Promise<void> {
  await removeAtOnce(join(out, REPLACED));
}

/**
 * Ends a replacement, another process's too: what it set aside comes back, unless the new run had begun.
 * @returns whether something came back.
 */
export async function restoreReplaced(out: string): Promise<boolean> {
  const replaced = join(out, REPLACED);
  if (!existsSync(replaced)) return false;
  // Moved last, to there and back: where both have one, the one here is the new run's.
  const isWhole = existsSync(join(replaced, MANIFEST_FILE));
  const hasBegun = isWhole && existsSync(join(out, MANIFEST_FILE));
  if (!hasBegun) await moveRemains(replaced, out);
  await removeReplaced(out);
  return !hasBegun;
}

async function moveRemains(from: string, to: string): Promise<void> {
  for (const name of REMAINS) {
    if (!existsSync(join(from, name))) continue;
    // What a run that never began may have left.
    await rm(join(to, name), { recursive: true, force: true });
    await rename(join(from, name), join(to, name));
  }
}
