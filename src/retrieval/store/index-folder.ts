/**
 * Shared by all kinds of index folders: `manifest.json` lists immutable files and contains its own checksum; a change
 * writes new files and then renames a new manifest over the old one, so a reader sees the index before or after the
 * change, never in between.
 */
import { mkdir, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import {
  AgentrlError,
  ConfigError,
  DataError,
  errorMessage,
  ExternalError,
} from "../../base/errors.ts";
import { exists, makeFolder, readText, sha256, writeFileAtomic } from "../../base/files.ts";
import { checkOptions, z } from "../../base/schema.ts";
import { corrupt } from "./checked-file.ts";
import {
  finishReplacing,
  moveIntoPlace,
  removeLeftovers,
  syncFolder,
  temporaryFolder,
} from "./replace-folder.ts";

/** What this version writes and reads. Grows with every change of any kind's layout. */
export const INDEX_VERSION = 2;

/** Schema of a `FileEntry`. */
export const fileEntrySchema = z.strictObject({
  bytes: z.int().min(0),
  checksum: z.string().length(8),
});

/** The keys that every manifest begins with. */
export const manifestBase = {
  format: z.literal("agentrl-index"),
  version: z.literal(INDEX_VERSION),
};

export function manifestPath(folder: string): string {
  return join(folder, "manifest.json");
}

/**
 * The kind of an index folder, from its manifest, before other checks.
 *
 * @throws {DataError} INDEX_MISSING when the folder has no manifest, INDEX_VERSION when another version wrote it,
 *   INDEX_CORRUPT when it is not what was written.
 */
export async function indexKind(folder: string): Promise<string> {
  const { kind } = await readChecked(folder);
  if (typeof kind === "string") return kind;
  throw corrupt(`${manifestPath(folder)}: has no kind`);
}

/**
 * Reads and checks `manifest.json`.
 * @throws {DataError} as `indexKind`; INDEX_CORRUPT also when it lacks what its kind must have.
 */
export async function readManifest<S extends z.ZodType>(
  folder: string,
  schema: S,
): Promise<z.output<S>> {
  const content = await readChecked(folder);
  const checked = checkOptions(schema, content);
  if (checked.problem === null) return checked.value;
  const { path, message } = checked.problem;
  throw corrupt(`${[manifestPath(folder), ...path].join(".")} ${message}`);
}

/**
 * Writes `manifest.json` with its checksum: the moment at which a change becomes part of the index. Folders of the
 * files that it names must have been synced.
 */
export async function writeManifest(folder: string, manifest: object): Promise<void> {
  const checksum = sha256(JSON.stringify(manifest));
  await writeFileAtomic(manifestPath(folder), textOf({ ...manifest, checksum }));
  await syncFolder(folder);
}

function textOf(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

async function readChecked(folder: string): Promise<Record<string, unknown>> {
  const path = manifestPath(folder);
  const text = await readManifestText(folder);
  const value = parse(text, path);
  const { checksum, ...content } = value;
  const { version } = content;
  // Format 1 had no checksum: its version is what can be said about it.
  const isOther = typeof version === "number" && version !== INDEX_VERSION;
  if (isOther && (checksum === undefined || checksum === sha256(JSON.stringify(content))))
    throw new DataError(
      "INDEX_VERSION",
      `${path}: index format ${version}; this version of agentrl reads format ${INDEX_VERSION}. Build the index again, or use the version of agentrl that made it.`,
    );
  // The text, too: white space and repeated keys would not change what was parsed.
  if (checksum !== sha256(JSON.stringify(content)) || text !== textOf(value))
    throw corrupt(`${path}: was modified: its checksum differs`);
  return content;
}

/**
 * Reads files that a manifest names: anew when it failed because a change replaced them meanwhile.
 * @param read reads the manifest first.
 */
export async function whileUnchanged<T>(folder: string, read: () => Promise<T>): Promise<T> {
  for (;;) {
    const before = await manifestIdentity(folder);
    try {
      return await read();
    } catch (error) {
      if (before === (await manifestIdentity(folder))) throw error;
    }
  }
}

/** Another one for every manifest that is written, even of the same content; null while there is none. */
async function manifestIdentity(folder: string): Promise<string | null> {
  await readManifestText(folder).catch(() => undefined);
  return stat(manifestPath(folder), { bigint: true }).then(
    ({ ino, ctimeNs }) => `${ino} ${ctimeNs}`,
    () => null,
  );
}

/** How long a reader waits for a folder that is being replaced at this moment. */
const REPLACING_TRIES = 100;
const REPLACING_MS = 10;

async function readManifestText(folder: string): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await readText(manifestPath(folder));
    } catch (error) {
      if (error instanceof DataError && error.code !== "FILE_MISSING")
        throw corrupt(`${manifestPath(folder)}: is no text`, error);
      const replacing = await finishReplacing(folder);
      const isThere = replacing !== "nothing" || (await exists(manifestPath(folder)));
      if (!isThere || attempt === REPLACING_TRIES)
        throw new DataError(
          "INDEX_MISSING",
          `${folder}: is not an index: it has no manifest.json. Make one with \`agentrl index build CORPUS.jsonl --out ${folder}\`.`,
          { cause: error },
        );
      if (replacing === "running") await setTimeout(REPLACING_MS);
    }
  }
}

function parse(text: string, path: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw corrupt(`${path}: is not JSON (${errorMessage(error)})`, error);
  }
  if (typeof value !== "object" || value === null) throw corrupt(`${path}: is not an object`);
  return value as Record<string, unknown>;
}

export interface WriteFolderOptions {
  /** Replace an existing index; without it, an existing index is an error. */
  overwrite: boolean;
  signal?: AbortSignal | undefined;
}

/**
 * Writes an index folder atomically: `write` fills a temporary folder beside `out`, which is then renamed.
 * Removes leftovers of killed processes.
 *
 * @throws {ConfigError} INDEX_EXISTS when `out` is there and `overwrite` is not set, or is no index.
 * @throws {ExternalError} FILE_WRITE_FAILED (disk full, no permission); what was there before stays.
 */
export async function writeIndexFolder<T>(
  out: string,
  { overwrite, signal }: WriteFolderOptions,
  write: (folder: string) => Promise<T>,
): Promise<T> {
  const temporary = temporaryFolder(out);
  try {
    if (!(await exists(out))) await finishReplacing(out);
    if (await exists(out)) await refuseUnlessReplaceable(out, overwrite);
    await removeLeftovers(out);
    await makeFolder(dirname(temporary));
    await mkdir(temporary);
    const result = await write(temporary);
    signal?.throwIfAborted();
    await moveIntoPlace(temporary, out);
    return result;
  } catch (error) {
    // The caller needs the first error, not one from this cleanup.
    await rm(temporary, { recursive: true, force: true }).catch(() => undefined);
    throw writeFailure(out, error);
  }
}

/** Converts a file-system error to FILE_WRITE_FAILED; returns any other unchanged. */
export function writeFailure(out: string, error: unknown): unknown {
  const isSystemError =
    error instanceof Error && !(error instanceof AgentrlError) && "syscall" in error;
  if (!isSystemError) return error;
  return new ExternalError(
    "FILE_WRITE_FAILED",
    `${out}: the index could not be written (${errorMessage(error)}). Nothing was changed; free space, or choose a writable folder. \`agentrl index build --plan\` shows how much space a build needs.`,
    { cause: error },
  );
}

/** Only an index is ever replaced, and only on request: a typo in --out must not delete a folder. */
async function refuseUnlessReplaceable(out: string, overwrite: boolean): Promise<void> {
  const isIndex = await exists(manifestPath(out));
  if (isIndex && overwrite) return;
  const advice = isIndex
    ? "Choose another --out, or replace it with --overwrite."
    : "It is not an index, so it is never replaced: choose another --out.";
  throw new ConfigError("INDEX_EXISTS", `${out}: already exists. ${advice}`);
}
