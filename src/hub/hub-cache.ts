import { randomUUID } from "node:crypto";
import { copyFile, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { exists, makeFolder } from "../base/files.ts";
import type { HubName } from "./hub-name.ts";

/**
 * A model's place in the cache that Hugging Face's programs share: `blobs/` holds files under their checksums, `snapshots/COMMIT/`
 * links to them under their names, `refs/REVISION` holds the commit of a branch or tag.
 */
export interface CachePlace {
  blob(checksum: string): string;
  snapshot(commit: string): string;
  /** The commit of a revision as far as the cache knows; null when it does not. */
  commitOf(revision: string): Promise<string | null>;
  remember(revision: string, commit: string): Promise<void>;
  /** Puts a blob into a snapshot under a name. */
  place(blob: string, commit: string, file: string): Promise<void>;
}

const COMMIT = /^[0-9a-f]{40}$/;

/** Whether a revision is a commit, which never changes. */
export function isCommit(revision: string): boolean {
  return COMMIT.test(revision);
}

/** @param cache the folder of all models. */
export function cachePlace(cache: string, { repository }: HubName): CachePlace {
  const root = join(cache, `models--${repository.replace("/", "--")}`);
  const snapshot = (commit: string): string => join(root, "snapshots", commit);
  const commitOf = async (revision: string): Promise<string | null> => {
    if (isCommit(revision)) return revision;
    const text = await readFile(join(root, "refs", revision), "utf8").catch(() => "");
    return isCommit(text.trim()) ? text.trim() : null;
  };
  return {
    blob: (checksum) => join(root, "blobs", checksum),
    snapshot,
    commitOf,
    async remember(revision, commit) {
      if (revision === commit || (await commitOf(revision)) === commit) return;
      const path = join(root, "refs", revision);
      await makeFolder(dirname(path));
      // Not by the process's number: several calls of one process may write it.
      const temporary = `${path}.${randomUUID()}`;
      await writeFile(temporary, commit);
      await rename(temporary, path);
    },
    async place(blob, commit, file) {
      const path = join(snapshot(commit), file);
      if (await exists(path)) return;
      await makeFolder(dirname(path));
      const temporary = `${path}.${randomUUID()}`;
      // Relative, so that the cache can be moved.
      await symlink(relative(dirname(path), blob), temporary).catch(async () => {
        await copyFile(blob, temporary); // no links on this file system, or not for this user
      });
      await rename(temporary, path);
    },
  };
}
