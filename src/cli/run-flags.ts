import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Command, Option } from "commander";
import type { RunFolderUse } from "../recipe/folder/claim-run.ts";
import type { Override } from "../recipe/settings/settings.ts";
import type { CliContext } from "./command.ts";
import { reporterOption, reporterOverrides } from "./reporter-option.ts";

/** Flags of every command that trains into a run folder. */
export interface RunFlags {
  model?: string;
  resume?: true;
  overwrite?: true;
  reporter?: string[];
}

/** Adds the flags of `RunFlags`. */
export function addRunOptions(command: Command): Command {
  return command
    .option(
      "--model <name>",
      "policy to start from: a Hugging Face folder, or org/name[@revision] of the hub",
    )
    .option("--resume", "resume from the newest checkpoint of the run folder")
    .addOption(new Option("--overwrite", "replace the run in the folder").conflicts("resume"))
    .addOption(reporterOption());
}

/** What is done about a run that the folder holds. */
export function folderUseOf({ resume, overwrite }: RunFlags): Required<RunFolderUse> {
  return { resume: resume === true, overwrite: overwrite === true };
}

/**
 * Does a run's work and then stops what showed it; where somebody ended it on the way, says how it is gone on with.
 * @param shown stopped in this order, before anything is said.
 */
export async function showingRun(
  context: CliContext,
  { out, shown }: { out: string; shown: readonly { stop(): void }[] },
  work: () => Promise<void>,
): Promise<void> {
  const stop = (): void => {
    for (const each of shown) each.stop();
  };
  try {
    await work().finally(stop);
  } catch (error) {
    const { MANIFEST_FILE } = await import("../recipe/folder/file-names.ts");
    // Before its folder is made there is nothing to go on from.
    if (context.signal.aborted && existsSync(join(out, MANIFEST_FILE)))
      context.note(`${out}: kept as far as it is; the same command with --resume goes on.`);
    throw error;
  }
}

/** What the flags set of the recipe. @throws {ConfigError} RECIPE_NOT_YAML */
export function runOverrides({ model, reporter }: RunFlags): Override[] {
  const from = { key: "policy.from", value: model, origin: "--model" };
  return [...(model === undefined ? [] : [from]), ...reporterOverrides(reporter)];
}
