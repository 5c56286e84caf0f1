import { existsSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { writeJson } from "../../base/files.ts";
import { checkOptions, z, parseOptions } from "../../base/schema.ts";
import { serverAddress } from "../../http/http-options.ts";
import { variables, hubAccess, PATIENCE } from "../../http/hub-access.ts";
import type { TransferSettings } from "../../http/transfer.ts";
import type { CardFile } from "./card.ts";

/** The folder of downloaded datasets: AGENTRL_DATA, or ~/.cache/agentrl/datasets (XDG_CACHE_HOME instead of ~/.cache). */
export function dataFolder(environment: NodeJS.ProcessEnv = process.env): string {
  const value = variables(environment);
  const cache = value("XDG_CACHE_HOME") ?? join(homedir(), ".cache");
  return value("AGENTRL_DATA") ?? join(cache, "agentrl", "datasets");
}

export function sourceFolder(root: string, dataset: string, source: string): string {
  return join(root, dataset, source);
}

/** File name of a split; its extension tells readers the format (JSON lines, table, Parquet, gzip). */
export function splitFileName(split: string, { url, member, layout }: CardFile): string {
  const [, ending] = /(\.(?:jsonl|json|tsv)(?:\.gz)?|\.parquet)$/.exec(member ?? pathOf(url)) ?? [];
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

/** The origin of a downloaded file, stored beside it as `<file>.origin.json`. */
export type Origin = z.output<typeof originSchema>;

/** The stored origin of a file; null when missing or unreadable. */
export function originOf(path: string): Origin | null {
  try {
    const text = readFileSync(originPath(path), "utf8");
    const checked = checkOptions(originSchema, JSON.parse(text));
    return checked.problem === null ? checked.value : null;
  } catch {
    return null;
  }
}

/** Stores the origin of a file. @throws {ExternalError} FILE_WRITE_FAILED */
export async function writeOrigin(path: string, origin: Origin): Promise<void> {
  await writeJson(originPath(path), origin);
}

export function originPath(path: string): string {
  return `${path}.origin.json`;
}

/** Whether a file still has the size that was downloaded. */
export function isHere(path: string): boolean {
  const origin = originOf(path);
  return origin !== null && existsSync(path) && statSync(path).size === origin.bytes;
}

export interface FileAddress {
  settings: TransferSettings;
  url: URL;
}

/**
 * The address of a card's `url`. Hub addresses use HF_ENDPOINT and HF_TOKEN. Other addresses use AGENTRL_DATA_URL, a mirror that
 * stores each file under its host and path (the layout of `wget --force-directories`): with http://mirror,
 * https://fever.ai/download/fever/train.jsonl is requested as http://mirror/fever.ai/download/fever/train.jsonl.
 *
 * @throws {ConfigError} as `hubAccess`; RECIPE_BAD_VALUE for an invalid AGENTRL_DATA_URL.
 */
export function fileAddress(
  url: string,
  environment: NodeJS.ProcessEnv = process.env,
): FileAddress {
  const hub = /^hub:([^/]+\/[^/@]+)(?:@([^/]+))?\/(.+)$/.exec(url);
  if (hub !== null) {
    const [, repository = "", revision = "main", file = ""] = hub;
    const settings = hubAccess(environment);
    const path = `datasets/${repository}/resolve/${revision}/${file}`;
    return { settings, url: new URL(`${settings.endpoint}/${path}`) };
  }
  const { host, pathname, search, origin } = new URL(url);
  const mirror = variables(environment)("AGENTRL_DATA_URL");
  if (mirror === undefined)
    return { settings: { endpoint: origin, token: null, ...PATIENCE }, url: new URL(url) };
  const endpoint = parseOptions(serverAddress, mirror, "AGENTRL_DATA_URL").replace(/\/+$/, "");
  return {
    settings: { endpoint, token: null, ...PATIENCE },
    url: new URL(`${endpoint}/${host}${pathname}${search}`),
  };
}
