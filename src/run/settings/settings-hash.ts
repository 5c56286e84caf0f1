import { isAbsolute, relative, sep } from "node:path";
import { pluginHashes } from "../../base/plugins.ts";
import { shortHash } from "../../evaluate/fingerprint.ts";
import { effectOf, type Settings } from "./settings-schema.ts";

/**
 * Hash of the settings that decide what a stage makes; what is kept of it, and who watches, changes nothing.
 * @param out the run's folder: paths below it count from there, so that a moved run is the same run.
 */
export function settingsHash(settings: Partial<Settings>, out?: string): string {
  const decisive = Object.entries(settings).filter(
    ([key]) => !["rollback", "bookkeeping"].includes(effectOf(key)),
  );
  const named = { ...Object.fromEntries(decisive), ...pluginHashes(settings) };
  if (out === undefined) return shortHash(named);
  const moved = (_: string, value: unknown): unknown =>
    typeof value === "string" && value.startsWith(out + sep) ? inside(out, value) : value;
  return shortHash(JSON.parse(JSON.stringify(named, moved)));
}

/** A path below a run's folder, from there; others stay. */
export function inside(out: string, path: string): string {
  const within = relative(out, path);
  return within.startsWith("..") || isAbsolute(within) ? path : within.split(sep).join("/");
}
