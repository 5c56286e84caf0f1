import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { DataError } from "../../base/errors.ts";
import { isRunFolder } from "./run-files.ts";

/** Subfolders of a run that are not searched; stages are read with their run. */
const INSIDE = new Set([
  ...["checkpoints", "snapshots", "trajectories", "eval", "stages", "policy", "rolled-back"],
]);

/**
 * The folders of all runs in a folder, itself included; links are not followed.
 * @throws {DataError} FILE_MISSING when there is no such folder.
 */
export async function findRuns(folder: string): Promise<string[]> {
  if (!existsSync(folder)) {
    throw new DataError(
      "FILE_MISSING",
      `${folder}: there is no such folder. agentrl train, sft and dpo write runs to runs/ or --out; give that folder.`,
    );
  }
  const found: string[] = [];
  await gather(folder, found);
  return found;
}

async function gather(folder: string, found: string[]): Promise<void> {
  const isRun = isRunFolder(folder);
  if (isRun) found.push(folder);
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (!entry.isDirectory() || entry.name === "node_modules" || entry.name.startsWith("."))
      continue;
    if (!(isRun && INSIDE.has(entry.name))) await gather(join(folder, entry.name), found);
  }
}
