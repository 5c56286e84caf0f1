/**
 * The lock of those who write into a folder: a folder of its own in it, `<name>/`, holding one file named after its process. A folder
 * that is renamed to a place where a folder with something in it lies fails, so the lock is taken in one step; and a
 * dead holder is removed by its name, so that two who take over one lock cannot remove each other's.
 */
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { access } from "node:fs/promises";
import { join } from "node:path";
import { isAlive, processMark, processStart } from "./process-mark.ts";

/** Who holds a lock, and where it lies. */
export interface LockHolder {
  /** As `processMark`; "another" where it could not be read. */
  mark: string;
  /** To be removed by hand where its process is of a machine that is gone. */
  path: string;
}

/** A lock that this process has. */
export interface FolderLock {
  /** Whether it is still there: not where the folder was removed or moved away. */
  isThere(): Promise<boolean>;
  release(): void;
}

/**
 * Takes a folder's lock; one whose process is gone is taken over.
 *
 * @param folder must be there.
 * @param name of the lock: those of different names do not see each other.
 * @param busy makes the error for a lock that a living process holds: another, or another call in this one.
 * @throws what `busy` makes; system errors where the folder cannot be written.
 */
export function lockFolder(
  folder: string,
  name: string,
  busy: (holder: LockHolder) => Error,
): FolderLock {
  const path = join(folder, name);
  removeAbandoned(folder, name);
  const own = `${path}.${processMark()}`;
  try {
    mkdirSync(own);
    writeFileSync(join(own, processMark()), processStart(process.pid));
    for (let attempt = 1; !tryRename(own, path); attempt++) {
      const holders = namesIn(path);
      const living = holders.find((mark) => isHeld(path, mark));
      if (living !== undefined || attempt === ATTEMPTS)
        throw busy({ mark: living ?? "another", path });
      for (const holder of holders) rmSync(join(path, holder), { force: true });
      removeEmpty(path);
    }
  } catch (error) {
    rmSync(own, { recursive: true, force: true });
    throw error;
  }
  const mark = join(path, processMark());
  return {
    isThere: () => access(mark).then(() => true, isOtherThanGone),
    release: () => {
      rmSync(mark, { force: true });
      removeEmpty(path);
    },
  };
}

const ATTEMPTS = 3;

/** Why a file cannot be seen: for anything but being gone it may be there. */
function isOtherThanGone(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code !== "ENOENT";
}

/** Whether the process of a mark lives, and is not a later one of the same number: after a restart of the machine many are. */
function isHeld(path: string, mark: string): boolean {
  return isAlive(mark, readStart(join(path, mark)));
}

function readStart(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

/** Locks that were being made by processes that are gone. */
function removeAbandoned(folder: string, lock: string): void {
  for (const name of namesIn(folder)) {
    if (!name.startsWith(`${lock}.`) || isAlive(name.slice(lock.length + 1))) continue;
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
    // It may have been released since.
    if (["ENOTEMPTY", "EEXIST"].includes(code)) return false;
    if (code === "EPERM" && namesIn(to).length > 0) return false;
    throw error;
  }
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
