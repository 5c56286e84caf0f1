import { parseOptions } from "../../base/schema.ts";
import { hubAccess, PATIENCE, variables } from "../../http/hub-access.ts";
import { serverAddress } from "../../http/http-options.ts";
import type { TransferSettings } from "../../http/transfer.ts";

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
