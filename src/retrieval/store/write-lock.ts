/**
 * The lock of those who change an index folder: `write.lock/`, holding one empty file named after its process. A folder
 * that is renamed to a place where a folder with something in it lies fails, so the lock is taken in one step; and a
 * dead holder is removed by its name, so that two who take over one lock cannot remove each other's.
 */
import { mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ExternalError } from "../../base/errors.ts";
import { isAlive, processMark } from "../../base/process-mark.ts";

const LOCK = "write.lock";

/**
 * Runs `work` as the only writer of an index folder. Readers need no lock. A lock whose process is gone is taken over.
 * @throws {ExternalError} INDEX_BUSY when another process, or another call in this one, is writing.
 */
export async function withWriteLock<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const path = join(folder, LOCK);
  take(path, folder);
  try {
    return await work();
  } finally {
    rmSync(join(path, processMark()), { force: true });
    removeEmpty(path);
  }
}

const ATTEMPTS = 3;

function take(path: string, folder: string): void {
  removeAbandoned(folder);
  const own = `${path}.${processMark()}`;
  try {
    mkdirSync(own);
    writeFileSync(join(own, processMark()), "");
    for (let attempt = 1; !tryRename(own, path); attempt++) {
      const holders = namesIn(path);
      const living = holders.find(isAlive);
      if (living !== undefined || attempt === ATTEMPTS) throw busy(folder, path, living);
      for (const holder of holders) rmSync(join(path, holder), { force: true });
      removeEmpty(path);
    }
  } catch (error) {
    rmSync(own, { recursive: true, force: true });
    throw error;
  }
}

/** Locks that were being made by processes that are gone. */
function removeAbandoned(folder: string): void {
  for (const name of namesIn(folder)) {
    if (!name.startsWith(`${LOCK}.`) || isAlive(name.slice(LOCK.length + 1))) continue;
    rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/** False when a lock is there. */
function tryRename(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (["ENOTEMPTY", "EEXIST", "EPERM"].includes(code) && namesIn(to).length > 0) return false;
    throw error;
  }
}

function busy(folder: string, path: string, holder = "another"): ExternalError {
  return new ExternalError(
    "INDEX_BUSY",
    `${folder}: process ${holder} is changing this index. Wait until it is done; if it is not running any more, remove ${path}.`,
  );
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Where a folder is not renamed over an empty one; one that is not empty any more is somebody else's. */
function removeEmpty(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // Taken by another process in between, or removed by it.
  }
}
