import { existsSync } from "node:fs";
import { join } from "node:path";
import { readJson, writeJson } from "../../base/files.ts";
import { z } from "../../base/schema.ts";
import type { RunStart } from "./reporter.ts";

const fileSchema = z.object({ runId: z.string() });

/**
 * The run's id at the receiver, kept in the run folder's `reporters/<name>.json`: a resumed run keeps it, a new run gets another.
 * @throws {ExternalError} FILE_WRITE_FAILED
 */
export async function keptRunId(
  { out, afterStep }: RunStart,
  name: string,
  newId: () => string,
): Promise<string> {
  const path = join(out, "reporters", `${name}.json`);
  if (afterStep > 0 && existsSync(path)) {
    const kept = fileSchema.safeParse(await readJson(path)).data;
    if (kept !== undefined) return kept.runId;
  }
  const runId = newId();
  await writeJson(path, { runId });
  return runId;
}
