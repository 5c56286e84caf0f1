import { realpathSync } from "node:fs";
import { basename, dirname } from "node:path";
import { ConfigError } from "../base/errors.ts";

/** Outputs of `agentrl eval --out` and `agentrl synth-data` that derived files must not replace. */
const MEASURED = new Set([
  ...["rows.jsonl", "trajectories.jsonl", "results.json"],
  ...["draws.jsonl", "samples.jsonl", "validation.jsonl", "dropped.jsonl", "synth.json"],
  ...["pairs.jsonl", "pairs-validation.jsonl", "manifest.json", "recipe.resolved.yaml"],
]);

/**
 * Refuses an output file that is an input file, or a file of an input folder.
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

/** Null if it does not exist. */
function real(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
