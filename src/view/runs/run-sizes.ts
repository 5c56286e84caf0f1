import { existsSync } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

/** A checkpoint that a run keeps. */
export interface RunCheckpoint {
  step: number;
  path: string;
  bytes: number;
  /** Whether its last file exists; otherwise the run ended while writing it. */
  complete: boolean;
}

/** Bytes of all files below a folder, links not followed; files deleted meanwhile count as 0. */
export async function folderBytes(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const sizes = await Promise.all(
    entries.map(async (entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return folderBytes(path);
      return lstat(path).then(
        ({ size }) => size,
        () => 0,
      );
    }),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** The checkpoints in a run's folder, by step. */
export async function readRunCheckpoints(folder: string): Promise<RunCheckpoint[]> {
  const place = join(folder, "checkpoints");
  const names = existsSync(place) ? await readdir(place) : [];
  const checkpoints = await Promise.all(
    names.flatMap((name) => {
      const [, step] = /^step-(\d+)$/.exec(name) ?? [];
      return step === undefined ? [] : [checkpointAt(join(place, name), Number(step))];
    }),
  );
  return checkpoints.sort((a, b) => a.step - b.step);
}

async function checkpointAt(path: string, step: number): Promise<RunCheckpoint> {
  // Step 0 of a run with fresh weights has only the policy.
  const last = step === 0 ? "config.json" : "training-state.json";
  return { step, path, bytes: await folderBytes(path), complete: existsSync(join(path, last)) };
}
