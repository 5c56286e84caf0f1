import { ConfigError } from "../../../base/errors.ts";
import { parseOptions } from "../../../base/schema.ts";
import type { Endpoint } from "../../../http/endpoint.ts";
import { serverAddress } from "../../../http/http-options.ts";
import { environmentValue } from "../environment.ts";

const ADDRESS = "TRACKIO_SERVER_URL";
const TOKEN = "TRACKIO_WRITE_TOKEN";

/**
 * Where the server is and what lets us write to it: a write token, and for a Space of Hugging Face a token of the hub, which goes
 * nowhere else. As in Trackio's own client, TRACKIO_SERVER_URL may hold the write token as `?write_token=`.
 * @throws {ConfigError} RECIPE_BAD_VALUE when neither the recipe nor the environment names a server.
 */
export function trackioAccess(url: string | undefined): Pick<Endpoint, "url" | "headers" | "keys"> {
  const given = url ?? environmentValue(ADDRESS);
  if (given === undefined) {
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `reporters: trackio.url is missing, and so is the environment variable ${ADDRESS}: expected the address of a Trackio server. Start one with \`trackio show\` and write { name: trackio, url: http://127.0.0.1:7860 }.`,
    );
  }
  const { address, token } = withoutToken(given);
  const where = url === undefined ? ADDRESS : "reporters: trackio.url";
  const checked = parseOptions(serverAddress, address, where);
  const keys: Record<string, string> = {};
  const headers: Record<string, string> = {};
  const writeToken = environmentValue(TOKEN) ?? token;
  if (writeToken !== undefined) {
    keys[TOKEN] = writeToken;
    headers["x-trackio-write-token"] = writeToken;
  }
  const { protocol, hostname } = new URL(checked);
  const hubToken = environmentValue("HF_TOKEN");
  if (hubToken !== undefined && protocol === "https:" && hostname.endsWith(".hf.space")) {
    keys["HF_TOKEN"] = hubToken;
    headers["authorization"] = `Bearer ${hubToken}`;
  }
  return { url: checked, keys, headers };
}

/** Only `write_token` is taken out: what else looks secret is refused as in every address. */
function withoutToken(given: string): { address: string; token: string | undefined } {
  if (!URL.canParse(given)) return { address: given, token: undefined };
  const url = new URL(given);
  const token = url.searchParams.get("write_token") ?? undefined;
  if (token === undefined) return { address: given, token };
  url.searchParams.delete("write_token");
  return { address: String(url), token };
}
