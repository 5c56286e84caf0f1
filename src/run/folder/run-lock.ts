import { rmdir } from "node:fs/promises";
import { ExternalError, errorMessage } from "../../base/errors.ts";
import { makeFolder } from "../../base/files.ts";
import { type FolderLock, type LockHolder, lockFolder, processOf } from "../../base/folder-lock.ts";
import { isStalledDisk } from "../../base/waits/disk.ts";

/** In a run's folder while a process writes it. */
const LOCK = "run.lock";
/** Between two looks whether the folder is still there. */
const LOOK_MS = 1000;

/**
 * Runs `work` as the only one that writes a run's folder, which is made where it is missing: two that train, draw or evaluate into
 * one folder would mix their lines. Readers need no lock. A lock whose process is gone is taken over.
 *
 * @throws {ExternalError} RUN_BUSY when another process, or another call in this one, writes the folder; FILE_WRITE_FAILED;
 *   RUN_FOLDER_GONE when the folder is removed or moved away meanwhile: `work` would continue in a new folder without the earlier files.
 */
export async function withRunLock<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const { lock, made } = await take(folder);
  const watch = watchFolder(folder, lock);
  let stalled = false;
  try {
    const result = await Promise.race([work(), watch.gone]);
    if (!(await lock.isThere())) throw goneError(folder);
    return result;
  } catch (error) {
    stalled = isStalledDisk(error);
    // What fails in a folder that is gone fails for that.
    throw stalled || (await lock.isThere()) ? error : goneError(folder, error);
  } finally {
    watch.stop();
    // A disk that does not answer is asked for nothing more; the lock of a dead process is taken over.
    if (!stalled) lock.release();
    // Work that was refused before it wrote anything leaves no folder either; one with something in it is not removed so.
    if (made && !stalled) await rmdir(folder).catch(() => undefined);
  }
}

async function take(folder: string): Promise<{ lock: FolderLock; made: boolean }> {
  try {
    const made = await makeFolder(folder);
    return { lock: lockFolder(folder, LOCK, (holder) => busy(folder, holder)), made };
  } catch (error) {
    if (error instanceof ExternalError) throw error;
    throw new ExternalError(
      "FILE_WRITE_FAILED",
      `${folder}: the run folder could not be made or written (${errorMessage(error)}). Choose another --out.`,
      { cause: error },
    );
  }
}

/** Rejects once the lock is not there any more. */
function watchFolder(folder: string, lock: FolderLock): { gone: Promise<never>; stop: () => void } {
  let timer: NodeJS.Timeout | undefined;
  const gone = new Promise<never>((_, reject) => {
    timer = setInterval(() => {
      void lock.isThere().then((isThere) => {
        if (!isThere) reject(goneError(folder));
      });
    }, LOOK_MS).unref();
  });
  const stop = (): void => {
    clearInterval(timer);
  };
  return { gone, stop };
}

function goneError(folder: string, cause?: unknown): ExternalError {
  if (cause instanceof ExternalError && cause.code === "RUN_FOLDER_GONE") return cause;
  return new ExternalError(
    "RUN_FOLDER_GONE",
    `${folder}: was removed or moved away while this run wrote it. Put it back, in place of what is there now, and continue with --resume; or start again.`,
    { cause },
  );
}

function busy(folder: string, { mark, path }: LockHolder): ExternalError {
  return new ExternalError(
    "RUN_BUSY",
    `${folder}: ${processOf(mark)} is writing this run. Wait until it is done, stop it, or choose another --out; if that machine is gone, remove ${path}.`,
  );
}
