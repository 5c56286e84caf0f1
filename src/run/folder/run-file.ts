import { existsSync } from "node:fs";
import { join } from "node:path";
import { readJson, writeJson } from "../../base/files.ts";
import { z } from "../../base/schema.ts";

/** A run's settings, as a recipe of their own. */
export const RESOLVED_FILE = "recipe.resolved.yaml";

/** What a run was made with and on; where it is, there is a run. */
export const MANIFEST_FILE = "manifest.json";

/** Episodes that a person played; a folder with it is no run. */
export const GAMES_FILE = "games.jsonl";

/** What a run is: its stages, in order, with what each reads and left. */
export const RUN_FILE = "run.json";

/** Name of a run of a recipe's stages, each in a folder of its own; a stage that runs alone gives the run its name. */
export const SEVERAL = "stages";

const stageSchema = z.object({
  /** From 1; 0 for an evaluation before the first stage and behind the last one. */
  number: z.int().default(0),
  name: z.string(),
  /** Name of the stage part. */
  do: z.string(),
  /** Below the run's folder; `.` for the run's own. */
  folder: z.string().default("."),
  /** Options beside the settings. */
  options: z.record(z.string(), z.unknown()).default({}),
  /** Policy that it starts from or measures, and folders that it learns from. */
  reads: z.array(z.string()).default([]),
  /** Whether it has ended well. */
  done: z.boolean().default(false),
  /** Folder of the policy that it left; null where it trained none. */
  policy: z.string().nullable().default(null),
  /** Numbers that claims may name. */
  facts: z.record(z.string(), z.unknown()).default({}),
  /** Hash of the settings that it ended under. */
  settings: z.string().optional(),
});

/** A stage as `run.json` records it. */
export type RunStage = z.output<typeof stageSchema>;

const fileSchema = z.object({ stages: z.array(stageSchema) });

/** @example runStage("before", "evaluate") // { name: "before", do: "evaluate", folder: ".", … } */
export function runStage(name: string, does: string, more: Partial<RunStage> = {}): RunStage {
  return stageSchema.parse({ name, do: does, ...more });
}

export async function writeRunFile(folder: string, stages: readonly RunStage[]): Promise<void> {
  await writeJson(join(folder, RUN_FILE), { stages });
}

/** The stages of a run; null where the folder has no `run.json` that can be read: no run, or one of an older version. */
export async function readRunFile(folder: string): Promise<RunStage[] | null> {
  const path = join(folder, RUN_FILE);
  if (!existsSync(path)) return null;
  const parsed = fileSchema.safeParse(await readJson(path).catch(() => null));
  return parsed.success ? parsed.data.stages : null;
}

/** The name of the stage that a run is; `stages` where its stages have folders of their own, also for one and for none. */
export function kindOfStages(
  stages: readonly Pick<RunStage, "number" | "do" | "folder">[],
): string {
  const alone = stages.find(({ number, folder }) => number > 0 && folder === ".");
  return alone?.do ?? SEVERAL;
}

const manifestSchema = z.looseObject({
  command: z.string().optional().catch(undefined),
  hashes: z.record(z.string(), z.string()).catch({}),
  teacher: z.unknown().optional(),
});

/** What began a run, and with which data. */
export interface RunOrigin {
  /** As `kindOfStages`; null where a run of an older version does not tell. */
  kind: string | null;
  /** Checksums, by the names of what the run was made from. */
  hashes: Readonly<Record<string, string>>;
}

/** The origin of the run that a folder holds; null where it holds none. A manifest that cannot be read says nothing. */
export async function originOfRun(folder: string): Promise<RunOrigin | null> {
  const path = join(folder, MANIFEST_FILE);
  if (!existsSync(path)) return null;
  const stages = await readRunFile(folder);
  const parsed = manifestSchema.safeParse(await readJson(path).catch(() => null));
  const kind = stages === null ? null : kindOfStages(stages);
  if (!parsed.success) return { kind, hashes: {} };
  return { kind: kind ?? kindBefore(folder, parsed.data), hashes: parsed.data.hashes };
}

/** Commands that older versions wrote into the manifest, by the stage that they ran. */
const COMMANDS: Readonly<Record<string, string>> = {
  train: "train",
  sft: "sft",
  dpo: "preference",
  "synth-data": "synth",
};

/** Of a run without `run.json`, which older versions did not write. */
function kindBefore(
  folder: string,
  { command, hashes, teacher }: z.output<typeof manifestSchema>,
): string | null {
  if (["stages", "stages.json"].some((name) => existsSync(join(folder, name)))) return SEVERAL;
  if (command !== undefined) return COMMANDS[command] ?? null;
  if (teacher !== undefined) return "synth";
  if ("pairs" in hashes) return "preference";
  if ("samples" in hashes) return "sft";
  return "dataset" in hashes ? "train" : null;
}
