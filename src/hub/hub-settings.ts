import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { ConfigError } from "../base/errors.ts";
import { parseOptions } from "../base/schema.ts";
import { serverAddress } from "../http/http-options.ts";

/** Where models come from and where they are kept. */
export interface HubSettings {
  /** Address of the hub or a mirror, without a slash at its end. */
  endpoint: string;
  /** Folder that holds `models--org--name/`. */
  cache: string;
  /** Sent to the endpoint only; never in a message. */
  token: string | null;
  /** Look into the cache only. */
  offline: boolean;
  /** Milliseconds without any data after which a connection counts as cut. */
  timeoutMs: number;
  /** Attempts after one that brought nothing. */
  retries: number;
  /** Longest wait before the first of them, in milliseconds; doubles with each further one. */
  retryDelayMs: number;
}

/**
 * Settings by Hugging Face's environment variables: HF_ENDPOINT; HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE, HF_HOME, XDG_CACHE_HOME for the
 * cache (by default ~/.cache/huggingface/hub, shared with Hugging Face's own programs); HF_TOKEN, or else the file at HF_TOKEN_PATH
 * or HF_HOME's `token`; HF_HUB_OFFLINE.
 *
 * @throws {ConfigError} RECIPE_BAD_VALUE for an HF_ENDPOINT that is no address; HTTP_KEY_MISSING for an HF_TOKEN that no token
 *   can be, without showing it.
 */
export function hubSettings(environment: NodeJS.ProcessEnv = process.env): HubSettings {
  const value = (name: string): string | undefined => {
    const text = environment[name]?.trim() ?? "";
    return text === "" ? undefined : text;
  };
  const home =
    value("HF_HOME") ?? join(value("XDG_CACHE_HOME") ?? join(homedir(), ".cache"), "huggingface");
  const endpoint = value("HF_ENDPOINT") ?? "https://huggingface.co";
  return {
    endpoint: parseOptions(serverAddress, endpoint, "HF_ENDPOINT").replace(/\/+$/, ""),
    cache: value("HF_HUB_CACHE") ?? value("HUGGINGFACE_HUB_CACHE") ?? join(home, "hub"),
    token: token(value, home),
    offline: /^(1|on|yes|true)$/i.test(value("HF_HUB_OFFLINE") ?? ""),
    timeoutMs: 30_000,
    retries: 4,
    retryDelayMs: 500,
  };
}

function token(value: (name: string) => string | undefined, home: string): string | null {
  const path = value("HF_TOKEN_PATH") ?? join(home, "token");
  const inFile = existsSync(path) ? readFileSync(path, "utf8").trim() : "";
  const found = value("HF_TOKEN") ?? inFile;
  if (found === "") return null;
  // Node's own refusal of such a header would print it.
  if (/[^\x21-\x7e]/.test(found)) {
    const where = value("HF_TOKEN") === undefined ? path : "the environment variable HF_TOKEN";
    throw new ConfigError(
      "HTTP_KEY_MISSING",
      `hub: ${where} holds white space or characters that no token has. Put the token alone there, or nothing.`,
    );
  }
  return found;
}
