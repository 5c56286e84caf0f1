import { mkdir, rmdir } from "node:fs/promises";
import { errorMessage, ExternalError } from "../base/errors.ts";
import { type LockHolder, lockFolder } from "../base/folder-lock.ts";

/** In a run's folder while a process writes it. */
const LOCK = "run.lock";

/**
 * Runs `work` as the only one that writes a run's folder, which is made where it is missing: two that train, draw or evaluate into
 * one folder would mix their lines. Readers need no lock. A lock whose process is gone is taken over.
 *
 * @throws {ExternalError} RUN_BUSY when another process, or another call in this one, writes the folder; FILE_WRITE_FAILED.
 */
export async function withRunLock<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const unlock = await lock(folder);
  try {
    return await work();
  } finally {
    await unlock();
  }
}

async function lock(folder: string): Promise<() => Promise<void>> {
  try {
    const made = (await mkdir(folder, { recursive: true })) !== undefined;
    const unlock = lockFolder(folder, LOCK, (holder) => busy(folder, holder));
    return async () => {
      unlock();
      // Work that was refused before it wrote anything leaves no folder either; one with something in it is not removed so.
      if (made) await rmdir(folder).catch(() => undefined);
    };
  } catch (error) {
    if (error instanceof ExternalError) throw error;
    throw new ExternalError(
      "FILE_WRITE_FAILED",
      `${folder}: the run folder could not be made or written (${errorMessage(error)}). Choose another --out.`,
      { cause: error },
    );
  }
}

function busy(folder: string, { mark, path }: LockHolder): ExternalError {
  const [, host = "this machine", pid = mark] = /^(.*)\.(\d+)-[0-9a-f]{8}$/.exec(mark) ?? [];
  return new ExternalError(
    "RUN_BUSY",
    `${folder}: process ${pid} on ${host} is writing this run. Wait until it is done, stop it, or choose another --out; if that machine is gone, remove ${path}.`,
  );
}
