import { randomUUID } from "node:crypto";
import { open, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { ExternalError } from "../../base/errors.ts";
import { exists } from "../../base/files.ts";
import { isAlive, lockFolder, processMark } from "../../base/folder-lock.ts";

/**
 * Replaces a folder by a finished one: renames the old one aside, the new one to its name, and removes the old
 * one. No file system does the first two atomically; a process that finds them half done completes them.
 *
 *   IDX                                   the index
 *   IDX.tmp-MARK                          being written by the process of that mark
 *   IDX.tmp-MARK-replaced-1a2b3c4d        the one before, moved aside
 */

const ASIDE = /-replaced-[0-9a-f]{8}$/;

/** Where this process writes what is to become `target`. */
export function temporaryFolder(target: string): string {
  return `${resolve(target)}.tmp-${processMark()}`;
}

/** Moves a finished folder to its name and removes the old one. */
export async function moveIntoPlace(temporary: string, target: string): Promise<void> {
  const aside = `${temporary}-replaced-${randomUUID().slice(0, 8)}`;
  const replaces = await exists(target);
  if (replaces) await rename(target, aside);
  try {
    await rename(temporary, target);
  } catch (error) {
    if (replaces) await rename(aside, target);
    throw error;
  }
  await syncFolder(dirname(resolve(target)));
  // The new one is in place: what is left of the old one is removed by the next build at the latest.
  if (replaces) await rm(aside, { recursive: true, force: true }).catch(() => undefined);
}

/**
 * Completes a replacement that a killed process left after moving the old folder aside.
 * @returns "running" when the process still lives and will do the next step itself.
 */
export async function finishReplacing(target: string): Promise<"nothing" | "finished" | "running"> {
  const { parent, names } = await leftoversOf(target);
  for (const name of names) {
    const fresh = name.replace(ASIDE, "");
    // Without the fresh folder beside it, an old one is what a finished replacement did not get to remove.
    if (fresh === name || !names.includes(fresh)) continue;
    if (isAlive(markOf(name, target))) return "running";
    const moved = await rename(join(parent, fresh), resolve(target)).then(
      () => true,
      () => false,
    );
    // Another reader may have been faster.
    if (moved || (await exists(target))) return "finished";
  }
  return "nothing";
}

/** Removes temporary folders of dead processes. */
export async function removeLeftovers(target: string): Promise<void> {
  const { parent, names } = await leftoversOf(target);
  for (const name of names) {
    if (isAlive(markOf(name, target))) continue;
    await rm(join(parent, name), { recursive: true, force: true });
  }
}

async function leftoversOf(target: string): Promise<{ parent: string; names: string[] }> {
  const parent = dirname(resolve(target));
  const names = await readdir(parent).catch(() => []);
  return { parent, names: names.filter((name) => name.startsWith(prefixOf(target))) };
}

function prefixOf(target: string): string {
  return `${basename(resolve(target))}.tmp-`;
}

function markOf(name: string, target: string): string {
  return name.slice(prefixOf(target).length);
}

/** Makes renames in a folder survive a power cut. Windows has no equivalent. */
export async function syncFolder(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/**
 * Runs `work` as the only writer of an index folder. Readers need no lock. Takes over the lock of a dead process.
 * @throws {ExternalError} INDEX_BUSY when another process, or another call in this one, is writing.
 */
export async function withWriteLock<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const lock = lockFolder(
    folder,
    "write.lock",
    ({ mark, path }) =>
      new ExternalError(
        "INDEX_BUSY",
        `${folder}: process ${mark} is changing this index. Wait until it is done; if it no longer runs, remove ${path}.`,
      ),
  );
  try {
    return await work();
  } finally {
    lock.release();
  }
}
