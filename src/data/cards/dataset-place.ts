import { existsSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { writeJson } from "../../base/files.ts";
import { checkOptions, z, parseOptions } from "../../base/schema.ts";
import { serverAddress } from "../../http/http-options.ts";
import { variables, hubAccess, PATIENCE } from "../../http/hub-access.ts";
import type { TransferSettings } from "../../http/transfer.ts";
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

/** Where a file of a card is asked for, and how. */
export interface FileAddress {
  settings: TransferSettings;
  url: URL;
}

/**
 * The address of a card's `url`. Those of the hub follow HF_ENDPOINT and HF_TOKEN. Others follow AGENTRL_DATA_URL, a mirror that
 * holds each file under its host and path (as `wget --force-directories` lays them down): with http://mirror,
 * https://fever.ai/download/fever/train.jsonl is asked for as http://mirror/fever.ai/download/fever/train.jsonl.
 *
 * @throws {ConfigError} as `hubAccess`; RECIPE_BAD_VALUE for an AGENTRL_DATA_URL that is no address.
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
