import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { readJson, writeJson } from "../base/files.ts";
import { z } from "../base/schema.ts";

const outcomeSchema = z.looseObject({
  state: z.enum(["finished", "interrupted", "failed"]),
  /** One sentence: why. */
  message: z.string().nullable().default(null),
});

/** How a run ended. */
export type RunOutcome = z.output<typeof outcomeSchema>;

const OUTCOME_FILE = "outcome.json";

/**
 * Writes how a run ended to `outcome.json` in its folder.
 * @param outcome null when the run starts or resumes: removes the old outcome.
 * @throws {ExternalError} FILE_WRITE_FAILED
 */
export async function recordOutcome(folder: string, outcome: RunOutcome | null): Promise<void> {
  const file = join(folder, OUTCOME_FILE);
  if (outcome === null) await rm(file, { force: true });
  else await writeJson(file, outcome);
}

/** How a run ended; null if its folder has no outcome. */
export async function readOutcome(folder: string): Promise<RunOutcome | null> {
  const file = join(folder, OUTCOME_FILE);
  if (!existsSync(file)) return null;
  const parsed = outcomeSchema.safeParse(await readJson(file).catch(() => null));
  return parsed.success ? parsed.data : null;
}
