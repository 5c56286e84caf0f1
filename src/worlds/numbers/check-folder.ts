import { join } from "node:path";
import type { Task } from "../../trajectory/task.ts";
import { loadTasks } from "../../data/tasks.ts";
import { compareWorldFolder } from "../../env/world-folder.ts";
import { checkNumberWorld, type NumberWorldReport } from "./check.ts";
import { NUMBER_WORLD_FORMAT } from "./generate.ts";

/** Result of checking a number-world folder. */
interface NumberWorldFolderReport extends NumberWorldReport {
  /** Files that differ from the manifest. */
  changedFiles: string[];
}

/**
 * Checks a folder from `generateNumberWorld`: compares its files with the manifest, and runs `checkNumberWorld`. A changed file is reported
 * and still checked.
 *
 * @throws {DataError} FILE_MISSING, FILE_NOT_JSON, DATA_BAD_RECORD when the manifest or a file is missing or invalid.
 */
export async function checkNumberWorldFolder(folder: string): Promise<NumberWorldFolderReport> {
  const { names, changedFiles } = await compareWorldFolder(folder, {
    format: NUMBER_WORLD_FORMAT,
    name: "numberworld",
  });
  const tasks: Task[] = [];
  for (const name of names) tasks.push(...(await loadTasks(join(folder, name))));
  return { ...checkNumberWorld(tasks), changedFiles };
}
