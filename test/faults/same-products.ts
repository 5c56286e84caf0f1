import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { sha256 } from "../../src/base/files.ts";

/**
 * What is left out where products are compared byte by byte, and why. All else must be equal.
 *
 * - `timing` of a line of metrics.jsonl: how long a step took.
 * - `timings` of a trajectory: how long its turns took.
 * - events.jsonl: when something happened, and that the run was resumed.
 * - state.json: which process ran it.
 */
const UNEQUAL_FILES = /(^|\/)(events\.jsonl|state\.json)$/;
const TIMED_LINES = /(^|\/)(metrics\.jsonl|trajectories\/step-\d+\.jsonl)$/;
const TIMES = new Set(["timing", "timings"]);

/** Every file under a folder with the hash of what must be equal; `folders` by their own names. */
export function productHashes(root: string, folders: readonly string[]): Record<string, string> {
  const hashes: Record<string, string> = {};
  for (const folder of folders) {
    for (const path of filesUnder(join(root, folder))) {
      const name = relative(root, path);
      if (!UNEQUAL_FILES.test(name)) hashes[name] = sha256(comparable(path));
    }
  }
  return hashes;
}

function filesUnder(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

function comparable(path: string): string | Buffer {
  const bytes = readFileSync(path);
  if (!TIMED_LINES.test(path)) return bytes;
  const untimed = (key: string, value: unknown): unknown => (TIMES.has(key) ? undefined : value);
  return bytes
    .toString("utf8")
    .split("\n")
    .map((line) => (line === "" ? "" : JSON.stringify(JSON.parse(line), untimed)))
    .join("\n");
}

/** Names of files that one has and the other lacks, or that differ. */
export function differences(one: Record<string, string>, other: Record<string, string>): string[] {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].sort().flatMap((name) => {
    if (one[name] === other[name]) return [];
    if (one[name] === undefined) return [`${name} (only after kills)`];
    return [other[name] === undefined ? `${name} (missing after kills)` : `${name} (differs)`];
  });
}
