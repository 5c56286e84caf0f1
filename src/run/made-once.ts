import { existsSync } from "node:fs";
import { rename } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { ExternalError, errorMessage } from "../base/errors.ts";
import { makeFolder, removeAtOnce } from "../base/files.ts";
import { type FolderLock, type LockHolder, lockFolder, processOf } from "../base/folder-lock.ts";
import { recordFiles } from "../models/recorded-files.ts";

/** A folder of the cache that is made on its first use. */
export interface MadeOnce {
  folder: string;
  /** What it holds, for messages: `the base policy "timid"`. */
  what: string;
  /** The verb for messages: `makes`, `converts`. */
  verb: string;
  /** A notice before it is made. */
  notice: string;
  /** Makes it. @param out a new place beside it. @returns the folder at or below `out` that becomes the result. */
  make: (out: string) => Promise<string>;
  onNotice?: ((notice: string) => void) | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Makes a folder of the cache if it is not there. If another process makes it, this one waits. The folder appears whole or not at all.
 * @throws {ExternalError} FILE_WRITE_FAILED when the cache cannot be written; what `make` throws.
 */
export async function madeOnce(once: MadeOnce): Promise<string> {
  const { folder, notice, make, onNotice } = once;
  if (existsSync(folder)) return folder;
  const lock = await lockOrWait(once);
  if (lock === null) return folder;
  const making = `${folder}.making`;
  try {
    // Another process may have finished it just before the lock was free.
    if (existsSync(folder)) return folder;
    onNotice?.(notice);
    await removeAtOnce(making);
    const made = await make(making);
    await recordFiles(made);
    await rename(made, folder);
    return folder;
  } finally {
    await removeAtOnce(making).catch(() => undefined);
    lock.release();
  }
}

/** Between two looks whether another process has finished. */
const LOOK_MS = 300;

/** Takes the folder's lock; null: another process made it meanwhile. */
async function lockOrWait({
  folder,
  what,
  verb,
  onNotice,
  signal,
}: MadeOnce): Promise<FolderLock | null> {
  const place = dirname(folder);
  let isTold = false;
  await makeFolder(place).catch((error: unknown) => {
    throw new ExternalError(
      "FILE_WRITE_FAILED",
      `${place}: could not be made (${errorMessage(error)}), and ${what} is kept there. Set XDG_CACHE_HOME to a folder that is writable.`,
      { cause: error },
    );
  });
  while (!existsSync(folder)) {
    const lock = tryLock(place, `${basename(folder)}.lock`);
    if (!("mark" in lock)) return lock;
    if (!isTold) onNotice?.(`waits: ${processOf(lock.mark)} ${verb} ${what}`);
    isTold = true;
    await delay(LOOK_MS, undefined, signal === undefined ? {} : { signal });
  }
  return null;
}

function tryLock(place: string, name: string): FolderLock | LockHolder {
  let holder: LockHolder | undefined;
  try {
    return lockFolder(place, name, (found) => {
      holder = found;
      return new Error(found.mark);
    });
  } catch (error) {
    if (holder === undefined) throw error;
    return holder;
  }
}
