import { join } from "node:path";
import { DataError } from "../../base/errors.ts";
import { readJson, sha256File } from "../../base/files.ts";
import { checkOptions, z } from "../../base/schema.ts";
import { readPassages } from "../passages.ts";
import { loadTasks } from "../tasks.ts";
import { checkTinyWorld, type TinyWorldReport } from "./check.ts";
import { TINY_WORLD_FORMAT } from "./generate.ts";

const manifestSchema = z.object({
  format: z.literal(TINY_WORLD_FORMAT),
  files: z.record(z.string(), z.object({ records: z.int(), sha256: z.string() })),
});

/** What a check of a written tiny world found. */
export interface TinyWorldFolderReport extends TinyWorldReport {
  /** Files that are not what the manifest says. */
  changedFiles: string[];
}

/**
 * Checks a folder written by `generateTinyWorld`: that its files are those of the manifest, and with `checkTinyWorld` that
 * its questions are answered by its passages. A changed file is reported and still checked.
 *
 * @throws {DataError} FILE_MISSING, FILE_NOT_JSON, DATA_BAD_RECORD when there is no manifest or it is another's; as
 *   `loadTasks` and `readPassages`.
 */
export async function checkTinyWorldFolder(folder: string): Promise<TinyWorldFolderReport> {
  const path = join(folder, "manifest.json");
  const manifest = checkOptions(manifestSchema, await readJson(path));
  if (manifest.problem !== null) {
    const { path: keys, message } = manifest.problem;
    throw new DataError(
      "DATA_BAD_RECORD",
      `${path}: "${keys.join(".")}" ${message} A folder written by \`agentrl data generate tinyworld\` is needed.`,
    );
  }
  const names = Object.keys(manifest.value.files);
  const changedFiles: string[] = [];
  for (const name of names) {
    const hash = await hashOf(join(folder, name));
    if (hash !== manifest.value.files[name]?.sha256) changedFiles.push(name);
  }
  const questions = names.filter((name) => name !== "corpus.jsonl");
  const tasks = [];
  for (const name of questions) tasks.push(...(await loadTasks(join(folder, name))));
  const report = await checkTinyWorld(readPassages(join(folder, "corpus.jsonl")), tasks);
  return { ...report, changedFiles };
}

/** null when there is no such file: its reader says so. */
async function hashOf(path: string): Promise<string | null> {
  try {
    return await sha256File(path);
  } catch {
    return null;
  }
}
