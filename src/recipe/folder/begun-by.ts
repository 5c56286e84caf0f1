import { existsSync } from "node:fs";
import { join } from "node:path";
import { readJson } from "../../base/files.ts";
import { MANIFEST_FILE } from "./file-names.ts";

/** Commands that leave a manifest in a folder. */
export type RunCommand = "train" | "sft" | "dpo" | "synth-data";

/** Of each, what stands in its manifests alone; asked in this order. */
const SIGNS: readonly (readonly [RunCommand, (manifest: RunManifest) => boolean])[] = [
  ["synth-data", ({ teacher }) => teacher !== undefined],
  ["dpo", ({ hashes = {} }) => "pairs" in hashes],
  ["sft", ({ hashes = {} }) => "samples" in hashes],
  ["train", ({ hashes = {} }) => "dataset" in hashes],
];

interface RunManifest {
  hashes?: Readonly<Record<string, string>>;
  teacher?: unknown;
}

/** What a folder's manifest says of the run in it. */
export interface RunBegun {
  /** null where the manifest does not tell: of stages, and of fine-tuning on a stream. */
  command: RunCommand | null;
  /** Checksums, by the names of what the run was made from. */
  hashes: Readonly<Record<string, string>>;
}

/** What began the run that a folder holds; null where it holds none. A manifest that cannot be read tells nothing. */
export async function begunBy(folder: string): Promise<RunBegun | null> {
  const path = join(folder, MANIFEST_FILE);
  if (!existsSync(path)) return null;
  const manifest = ((await readJson(path).catch(() => null)) ?? {}) as RunManifest;
  const command = SIGNS.find(([, holds]) => holds(manifest))?.[0] ?? null;
  return { command, hashes: manifest.hashes ?? {} };
}
