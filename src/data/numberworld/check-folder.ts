import { join } from "node:path";
import { DataError } from "../../base/errors.ts";
import { readJson, sha256File } from "../../base/files.ts";
import { checkOptions, z } from "../../base/schema.ts";
import type { Task } from "../../trajectory/task.ts";
import { loadTasks } from "../tasks.ts";
import { checkNumberWorld, type NumberWorldReport } from "./check.ts";
import { NUMBER_WORLD_FORMAT } from "./generate.ts";

const manifestSchema = z.object({
  format: z.literal(NUMBER_WORLD_FORMAT),
  files: z.record(z.string(), z.object({ sha256: z.string() })),
});

/** Result of checking a number-world folder. */
interface NumberWorldFolderReport extends NumberWorldReport {
  /** Files that differ from the manifest. */
  changedFiles: string[];
}

/** Whether a folder's manifest.json says that it is a number world. */
export async function isNumberWorldFolder(folder: string): Promise<boolean> {
  const manifest = await readJson(join(folder, "manifest.json"));
  return checkOptions(manifestSchema.pick({ format: true }).loose(), manifest).problem === null;
}

/**
 * Checks a folder from `generateNumberWorld`: compares its files with the manifest, and runs `checkNumberWorld`. A changed file is reported
 * and still checked.
 *
 * @throws {DataError} FILE_MISSING, FILE_NOT_JSON, DATA_BAD_RECORD when the manifest or a file is missing or invalid.
 */
export async function checkNumberWorldFolder(folder: string): Promise<NumberWorldFolderReport> {
  const path = join(folder, "manifest.json");
  const manifest = checkOptions(manifestSchema, await readJson(path));
  if (manifest.problem !== null) {
    const { path: keys, message } = manifest.problem;
    throw new DataError(
      "DATA_BAD_RECORD",
      `${path}: "${keys.join(".")}" ${message} A folder from \`agentrl data generate numberworld\` is required.`,
    );
  }
  const tasks: Task[] = [];
  const changedFiles: string[] = [];
  for (const [name, { sha256 }] of Object.entries(manifest.value.files)) {
    tasks.push(...(await loadTasks(join(folder, name))));
    if ((await sha256File(join(folder, name))) !== sha256) changedFiles.push(name);
  }
  return { ...checkNumberWorld(tasks), changedFiles };
}
