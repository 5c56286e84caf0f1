import { type Command, Option } from "commander";
import type { RunFolderUse } from "../recipe/claim-run.ts";
import type { Override } from "../recipe/settings.ts";
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
    .option("--resume", "go on from the newest checkpoint of the run folder")
    .addOption(
      new Option("--overwrite", "replace the run that the folder holds").conflicts("resume"),
    )
    .addOption(reporterOption());
}

/** What is done about a run that the folder holds. */
export function folderUseOf({ resume, overwrite }: RunFlags): Required<RunFolderUse> {
  return { resume: resume === true, overwrite: overwrite === true };
}

/** What the flags set of the recipe. @throws {ConfigError} RECIPE_NOT_YAML */
export function runOverrides({ model, reporter }: RunFlags): Override[] {
  const from = { key: "policy.from", value: model, origin: "--model" };
  return [...(model === undefined ? [] : [from]), ...reporterOverrides(reporter)];
}
