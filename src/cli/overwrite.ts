import { realpathSync, type Stats, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import { ConfigError } from "../base/errors.ts";

/**
 * Refuses to replace a file that is not the command's own, unless --overwrite is given. Call it before the work: a result that cannot be
 * written would cost the user the time.
 *
 * @param overwrite value of `overwriteOption()`.
 * @throws {ConfigError} OUTPUT_EXISTS. Devices and pipes pass, /dev/stdout for one: writing there replaces nothing.
 */
export function refuseToOverwrite(path: string, overwrite: boolean | undefined): void {
  const there = statOf(path);
  if (there === null || overwrite === true) return;
  if (!there.isFile() && !there.isDirectory()) return;
  throw new ConfigError(
    "OUTPUT_EXISTS",
    `${path}: already exists. Choose another name, or replace it with --overwrite.`,
  );
}

/** Outputs of `agentrl eval --out` and `agentrl synth-data` that derived files must not replace. */
const MEASURED = new Set([
  ...["rows.jsonl", "trajectories.jsonl", "results.json"],
  ...["draws.jsonl", "samples.jsonl", "validation.jsonl", "dropped.jsonl", "synth.json"],
  ...["pairs.jsonl", "pairs-validation.jsonl", "manifest.json", "recipe.resolved.yaml"],
]);

/**
 * Refuses an output file that is an input file, or a file of an input folder. Not even --overwrite allows it.
 *
 * @param flag for the message.
 * @throws {ConfigError} USAGE
 */
export function refuseOwnInput(out: string, inputs: readonly string[], flag: string): void {
  const file = real(out);
  if (file === null) return;
  const own = inputs.find((input) => {
    const place = real(input);
    return place === file || (place === dirname(file) && MEASURED.has(basename(file)));
  });
  if (own === undefined) return;
  throw new ConfigError(
    "USAGE",
    `${flag} ${out}: would replace an input file of ${own}. Choose another file.`,
  );
}

/** Null if nothing is there, also where a parent folder is a file: the writer reports that. */
function statOf(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}

/** Null if it does not exist. */
function real(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
