import { existsSync } from "node:fs";
import { join } from "node:path";
import { readJson } from "../../base/files.ts";
import { z } from "../../base/schema.ts";

/** A run's settings, as a recipe of their own. */
export const RESOLVED_FILE = "recipe.resolved.yaml";

/** What a run was made with and on; where it is, there is a run. */
export const MANIFEST_FILE = "manifest.json";

const runCommands = ["train", "sft", "dpo", "synth-data"] as const;

/** Commands that leave a manifest in a folder. */
export type RunCommand = (typeof runCommands)[number];

const manifestSchema = z.looseObject({
  command: z.enum(runCommands).optional().catch(undefined),
  hashes: z.record(z.string(), z.string()).catch({}),
  teacher: z.unknown().optional(),
});

/** Which command began a run, and with which data. */
export interface RunOrigin {
  /** null where a manifest of an older version does not tell. */
  command: RunCommand | null;
  /** Checksums, by the names of what the run was made from. */
  hashes: Readonly<Record<string, string>>;
}

/** The origin of the run that a folder holds; null where it holds none. A manifest that cannot be read says nothing. */
export async function originOfRun(folder: string): Promise<RunOrigin | null> {
  const path = join(folder, MANIFEST_FILE);
  if (!existsSync(path)) return null;
  const parsed = manifestSchema.safeParse(await readJson(path).catch(() => null));
  if (!parsed.success) return { command: null, hashes: {} };
  const { command, hashes, teacher } = parsed.data;
  return { command: command ?? commandBefore(hashes, teacher), hashes };
}

/** Of a manifest without `command`, which older versions wrote. */
function commandBefore(hashes: RunOrigin["hashes"], teacher: unknown): RunCommand | null {
  if (teacher !== undefined) return "synth-data";
  if ("pairs" in hashes) return "dpo";
  if ("samples" in hashes) return "sft";
  return "dataset" in hashes ? "train" : null;
}
