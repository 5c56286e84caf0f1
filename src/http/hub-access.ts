import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { ConfigError } from "../base/errors.ts";
import { parseOptions } from "../base/schema.ts";
import { serverAddress } from "./http-options.ts";
import type { TransferSettings } from "./transfer.ts";

/** Access to the Hugging Face hub or a mirror of it. */
export interface HubAccess extends TransferSettings {
  /** True: no requests, only the cache. */
  offline: boolean;
}

/**
 * Access from Hugging Face's environment variables: HF_ENDPOINT; HF_TOKEN, or else the file at HF_TOKEN_PATH or HF_HOME's `token`;
 * HF_HUB_OFFLINE.
 *
 * @throws {ConfigError} RECIPE_BAD_VALUE for an invalid HF_ENDPOINT; HTTP_KEY_MISSING for an invalid HF_TOKEN, which the message
 *   does not show.
 */
export function hubAccess(environment: NodeJS.ProcessEnv = process.env): HubAccess {
  const value = variables(environment);
  const endpoint = value("HF_ENDPOINT") ?? "https://huggingface.co";
  return {
    endpoint: parseOptions(serverAddress, endpoint, "HF_ENDPOINT").replace(/\/+$/, ""),
    token: token(value, hubHome(environment)),
    offline: /^(1|on|yes|true)$/i.test(value("HF_HUB_OFFLINE") ?? ""),
    ...PATIENCE,
  };
}

export const PATIENCE = { timeoutMs: 30_000, retries: 4, retryDelayMs: 500 } as const;

/** This user's Hugging Face folder. */
export function hubHome(environment: NodeJS.ProcessEnv): string {
  const value = variables(environment);
  return (
    value("HF_HOME") ?? join(value("XDG_CACHE_HOME") ?? join(homedir(), ".cache"), "huggingface")
  );
}

/** Environment variables; blank ones count as not set. */
export function variables(environment: NodeJS.ProcessEnv): (name: string) => string | undefined {
  return (name) => {
    const text = environment[name]?.trim() ?? "";
    return text === "" ? undefined : text;
  };
}

function token(value: (name: string) => string | undefined, home: string): string | null {
  const path = value("HF_TOKEN_PATH") ?? join(home, "token");
  const inFile = existsSync(path) ? readFileSync(path, "utf8").trim() : "";
  const found = value("HF_TOKEN") ?? inFile;
  if (found === "") return null;
  // Node's error for such a header would print the token.
  if (/[^\x21-\x7e]/.test(found)) {
    const where = value("HF_TOKEN") === undefined ? path : "the environment variable HF_TOKEN";
    throw new ConfigError(
      "HTTP_KEY_MISSING",
      `hub: ${where} contains white space or characters that no token has. Put only the token there, or nothing.`,
    );
  }
  return found;
}
