import { realpathSync } from "node:fs";
import { basename, dirname } from "node:path";
import { ConfigError } from "../base/errors.ts";

/** What `agentrl eval --out` measured and `agentrl synth-data` drew: nothing that is made of it may take its place. */
const MEASURED = new Set([
  ...["rows.jsonl", "trajectories.jsonl", "results.json"],
  ...["draws.jsonl", "samples.jsonl", "validation.jsonl", "dropped.jsonl", "synth.json"],
  ...["pairs.jsonl", "pairs-validation.jsonl", "manifest.json", "recipe.resolved.yaml"],
]);

/**
 * Refuses a file to be written that is one of those read, or lies among the files of a folder that is.
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
    `${flag} ${out}: would replace what is read of ${own}. Name another file.`,
  );
}

/** Null where there is nothing. */
function real(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}
