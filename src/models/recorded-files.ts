/** Checksums of a saved model's files, recorded beside them: nothing is computed from files that changed since. */
import { existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { DataError, errorMessage } from "../base/errors.ts";
import { readJson, sha256File, writeJson } from "../base/files.ts";
import { checkOptions, z } from "../base/schema.ts";

export const RECORD_FILE = "checkpoint.json";

const schema = z.strictObject({
  /** Completed steps of the run, and the number of its earlier rollbacks; absent where the folder is no checkpoint of a run. */
  step: z.int().min(0).optional(),
  attempt: z.int().min(0).optional(),
  files: z.record(z.string(), z.strictObject({ bytes: z.int(), sha256: z.string() })),
});

export type FileRecord = z.output<typeof schema>;

/** Records the files of a folder as they are now. */
export async function recordFiles(
  folder: string,
  facts: Omit<FileRecord, "files"> = {},
): Promise<void> {
  const files: FileRecord["files"] = {};
  for (const name of (await readdir(folder, { recursive: true })).sort()) {
    const path = join(folder, name);
    const found = await stat(path);
    if (found.isDirectory() || name === RECORD_FILE) continue;
    files[name] = { bytes: found.size, sha256: await sha256File(path) };
  }
  await writeJson(join(folder, RECORD_FILE), { ...facts, files });
}

/** A folder's record, or why it cannot be read. */
export async function recordOf(folder: string): Promise<FileRecord | string> {
  const file = join(folder, RECORD_FILE);
  if (!existsSync(file)) return `${RECORD_FILE} is missing`;
  const record = await readJson(file).catch((error: unknown) => error);
  if (record instanceof Error) return errorMessage(record);
  const checked = checkOptions(schema, record);
  if (checked.problem === null) return checked.value;
  return `${RECORD_FILE}: ${checked.problem.path.join(".")} ${checked.problem.message}`;
}

/** The first problem of a folder's files; null: none. @param isRead which files count; default all. */
export async function damageOf(
  folder: string,
  { files }: FileRecord,
  isRead: (name: string) => boolean = () => true,
): Promise<string | null> {
  for (const [name, { bytes, sha256 }] of Object.entries(files)) {
    if (!isRead(name)) continue;
    const own = join(folder, name);
    const size = await stat(own).then(
      (found) => found.size,
      () => null,
    );
    if (size === null) return `${name} is missing`;
    if (size !== bytes) return `${name} has ${size} bytes of ${bytes}`;
    if ((await sha256Once(own)) !== sha256) return `${name} is not what was written (its sha256)`;
  }
  return null;
}

/** Checks a folder against its record, if it has one. @throws {DataError} CHECKPOINT_CHANGED */
export async function requireAsRecorded(
  folder: string,
  isRead?: (name: string) => boolean,
): Promise<void> {
  if (!existsSync(join(folder, RECORD_FILE))) return;
  const record = await recordOf(folder);
  const why = typeof record === "string" ? record : await damageOf(folder, record, isRead);
  if (why === null) return;
  throw new DataError(
    "CHECKPOINT_CHANGED",
    `${folder}: ${why}, so it is not used. Take another checkpoint, or copy this one again; a folder of agentrl's cache is made again once it is deleted. If the change is yours, delete ${RECORD_FILE} from the folder.`,
  );
}

/** Checksums of this process, by path, size and time of change: several parts of a command ask for the same file. */
const checksums = new Map<string, Promise<string>>();

/** As `sha256File`, once for each state of a file. @throws {DataError} FILE_MISSING */
export async function sha256Once(path: string): Promise<string> {
  const { size, mtimeMs, ino } = await stat(path).catch(() => ({ size: 0, mtimeMs: 0, ino: 0 }));
  const state = [path, size, mtimeMs, ino].join();
  const checksum = checksums.get(state) ?? sha256File(path);
  checksums.set(state, checksum);
  return checksum;
}
