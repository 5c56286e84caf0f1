import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { readJson, writeJson } from "../../../base/files.ts";
import { z } from "../../../base/schema.ts";
import type { RunStart } from "../reporter.ts";

const fileSchema = z.object({ runId: z.string() });

/**
 * The id under which Trackio knows the run, kept in the run folder's `reporters/trackio.json`: a run that goes on is the same run,
 * one that begins is another.
 * @throws {ExternalError} FILE_WRITE_FAILED
 */
export async function runIdOf({ out, afterStep }: RunStart): Promise<string> {
  const path = join(out, "reporters", "trackio.json");
  if (afterStep > 0 && existsSync(path)) {
    const kept = fileSchema.safeParse(await readJson(path)).data;
    if (kept !== undefined) return kept.runId;
  }
  const runId = randomUUID();
  await writeJson(path, { runId });
  return runId;
}
