import { readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { errorMessage, ExternalError } from "../../base/errors.ts";
import { REMOVED, removeAtOnce } from "../../base/files.ts";
import { isStalledDisk } from "../../base/waits/disk.ts";

/** A run's copies of its own weights, a folder each. */
export const SNAPSHOTS_FOLDER = "snapshots";

/** Of the name of a folder that is being written: not yet what it will be. */
const PARTIAL = ".partial";

/** Removes what a kill left in a folder while something in it was written or removed. Only the folder's one writer may call it. */
export async function removeRemains(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    if (name.endsWith(PARTIAL) || name.endsWith(REMOVED))
      await rm(join(folder, name), { recursive: true, force: true });
  }
}

/**
 * Writes a folder of a run whole or not at all: `write` fills `NAME.partial`, which then takes the name. After a failure the partial folder
 * is removed, because on a full disk it would take the room that the next attempt needs.
 *
 * @throws {ExternalError} FILE_WRITE_FAILED, with the way to continue. DISK_STALLED leaves the partial folder: a removal would not end.
 */
export async function writeWholeFolder(
  folder: string,
  write: (partial: string) => Promise<void>,
): Promise<void> {
  const partial = `${folder}${PARTIAL}`;
  await rm(partial, { recursive: true, force: true });
  try {
    await write(partial);
  } catch (error) {
    if (isStalledDisk(error)) throw error;
    await rm(partial, { recursive: true, force: true }).catch(() => undefined);
    if (!(error instanceof ExternalError) || error.code !== "FILE_WRITE_FAILED") throw error;
    // An error of the engine's thread arrives without its cause.
    const why = error.cause === undefined ? error.message : errorMessage(error.cause);
    throw new ExternalError(
      "FILE_WRITE_FAILED",
      `${folder}: could not be saved (${why}). Everything saved before is kept: free space on the disk, or lower checkpoints.keep, then continue with --resume.`,
      { cause: error },
    );
  }
  await removeAtOnce(folder);
  await rename(partial, folder);
}
