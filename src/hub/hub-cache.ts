import { randomUUID } from "node:crypto";
import { copyFile, readFile, rename, symlink, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { exists, makeFolder } from "../base/files.ts";
import { type HubAccess, hubAccess, hubHome, variables } from "../http/hub-access.ts";

/**
 * A model's place in the cache that Hugging Face's programs share: `blobs/` contains files named by checksum, `snapshots/COMMIT/`
 * links to them by file name, `refs/REVISION` contains the commit of a branch or tag.
 */
export interface CachePlace {
  blob(checksum: string): string;
  snapshot(commit: string): string;
  /** The cached commit of a revision; null when unknown. */
  commitOf(revision: string): Promise<string | null>;
  remember(revision: string, commit: string): Promise<void>;
  /** Links a blob into a snapshot under a file name. */
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
      // Not named by process id: several calls of one process may write it.
      const temporary = `${path}.${randomUUID()}`;
      await writeFile(temporary, commit);
      await rename(temporary, path);
    },
    async place(blob, commit, file) {
      const path = join(snapshot(commit), file);
      if (await exists(path)) return;
      await makeFolder(dirname(path));
      const temporary = `${path}.${randomUUID()}`;
      // A relative link, so that the cache can be moved.
      await symlink(relative(dirname(path), blob), temporary).catch(async () => {
        await copyFile(blob, temporary); // the file system or the user's rights do not allow links
      });
      await rename(temporary, path);
    },
  };
}

export interface HubSettings extends HubAccess {
  /** Folder that contains `models--org--name/`. */
  cache: string;
}

/**
 * Settings from Hugging Face's environment variables: `hubAccess`, and HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE, HF_HOME, XDG_CACHE_HOME for
 * the cache (default ~/.cache/huggingface/hub, shared with Hugging Face's own programs).
 *
 * @throws {ConfigError} as `hubAccess`.
 */
export function hubSettings(environment: NodeJS.ProcessEnv = process.env): HubSettings {
  const value = variables(environment);
  const cache = value("HF_HUB_CACHE") ?? value("HUGGINGFACE_HUB_CACHE");
  return { ...hubAccess(environment), cache: cache ?? join(hubHome(environment), "hub") };
}

export interface HubName {
  /** `organisation/model` */
  repository: string;
  /** Branch, tag or commit. */
  revision: string;
}

/** The default branch. */
const DEFAULT_REVISION = "main";

/**
 * Parses `org/name` or `org/name@revision`; null for anything else, such as a path.
 * @example parseHubName("Qwen/Qwen2.5-0.5B@v1") // { repository: "Qwen/Qwen2.5-0.5B", revision: "v1" }
 */
export function parseHubName(text: string): HubName | null {
  const [, repository = "", revision = DEFAULT_REVISION] =
    /^([\w-][\w.-]*\/[\w-][\w.-]*)(?:@([\w][\w./-]*))?$/.exec(text) ?? [];
  // The hub's own rules; they also keep a name inside the cache folder.
  if (repository === "" || /--|\.\.|[.-](\/|$)|\.git$/.test(repository)) return null;
  return /\.\.|\/\/|[./]$|\.lock$/.test(revision) ? null : { repository, revision };
}

export function hubNameText({ repository, revision }: HubName): string {
  return revision === DEFAULT_REVISION ? repository : `${repository}@${revision}`;
}
