import { existsSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { writeJson } from "../../base/files.ts";
import { checkOptions, z } from "../../base/schema.ts";
import { variables } from "../../http/hub-access.ts";
import type { CardFile } from "./card.ts";

/** Where downloaded datasets are kept: AGENTRL_DATA, or ~/.cache/agentrl/datasets (XDG_CACHE_HOME instead of ~/.cache). */
export function dataFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const value = variables(environment);
  const cache = value("XDG_CACHE_HOME") ?? join(homedir(), ".cache");
  return value("AGENTRL_DATA") ?? join(cache, "agentrl", "datasets");
}

/** Folder of one source of a dataset below the folder of all. */
export function sourceFolder(root: string, dataset: string, source: string): string {
  return join(root, dataset, source);
}

/** Name of a split's file: the ending tells its readers whether it is lines, a table, or packed. */
export function splitFileName(split: string, { url, member, layout }: CardFile): string {
  const [, ending] = /(\.(?:jsonl|json|tsv)(?:\.gz)?)$/.exec(member ?? pathOf(url)) ?? [];
  return `${split}${ending ?? (layout === "popqa" ? ".tsv" : ".json")}`;
}

function pathOf(url: string): string {
  return url.startsWith("hub:") ? url : new URL(url).pathname;
}

const originSchema = z.object({
  url: z.string(),
  sha256: z.string(),
  bytes: z.int(),
  records: z.int(),
  layout: z.string(),
  license: z.string(),
});

/** Where a file on this machine came from: what stands beside it as `<file>.origin.json`. */
export type Origin = z.output<typeof originSchema>;

/** The origin that was written beside a file; null where there is none, or none that can be read. */
export function originOf(path: string): Origin | null {
  try {
    const text = readFileSync(originPath(path), "utf8");
    const checked = checkOptions(originSchema, JSON.parse(text));
    return checked.problem === null ? checked.value : null;
  } catch {
    return null;
  }
}

/** Keeps where a file came from. @throws {ExternalError} FILE_WRITE_FAILED */
export async function writeOrigin(path: string, origin: Origin): Promise<void> {
  await writeJson(originPath(path), origin);
}

/** The name of what stands beside a file. */
export function originPath(path: string): string {
  return `${path}.origin.json`;
}

/** Whether a file is here as it was downloaded, as far as its size tells. */
export function isHere(path: string): boolean {
  const origin = originOf(path);
  return origin !== null && existsSync(path) && statSync(path).size === origin.bytes;
}
