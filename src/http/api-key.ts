import { ConfigError } from "../base/errors.ts";
import type { Endpoint } from "./endpoint.ts";

/**
 * A key from the environment, without surrounding white space.
 *
 * @param variable its name.
 * @param where the option with this name, for the message.
 * @param remedy an alternative, as a sentence.
 * @throws {ConfigError} HTTP_KEY_MISSING when the variable is absent, empty or not valid in a header; the message never
 *   contains the value.
 */
export function readApiKey(variable: string, where: string, remedy = ""): string {
  const value = process.env[variable]?.trim() ?? "";
  const hint = remedy === "" ? "" : ` ${remedy}`;
  if (value === "")
    throw new ConfigError(
      "HTTP_KEY_MISSING",
      `${where}: the environment variable ${variable} is not set. Put the key into it.${hint}`,
    );
  // Node's error for such a header would print the key.
  if (/[^\x21-\x7e]/.test(value))
    throw new ConfigError(
      "HTTP_KEY_MISSING",
      `${where}: the environment variable ${variable} contains white space or characters that no key has. Set it to the key only.${hint}`,
    );
  return value;
}

/** A key as a header, for a server's client; nothing where no variable is named. @throws {ConfigError} HTTP_KEY_MISSING */
export function keyHeader(
  variable: string | null,
  where: string,
  { header = "authorization", scheme = "Bearer ", remedy = "" } = {},
): Pick<Endpoint, "headers" | "keys"> {
  if (variable === null) return {};
  const key = readApiKey(variable, where, remedy);
  return { headers: { [header]: scheme + key }, keys: { [variable]: key } };
}

export const DEFAULT_KEY_VARIABLE = "OPENAI_API_KEY";

/**
 * The key of an OpenAI-compatible server, for its client. A server on this machine gets no key where the default variable is not set.
 * @param where the setting that names the variable, for the message.
 * @throws {ConfigError} HTTP_KEY_MISSING
 */
export function modelKey(
  where: string,
  { baseUrl, apiKeyEnv }: { baseUrl: string; apiKeyEnv: string | null },
): Pick<Endpoint, "headers" | "keys"> {
  if (apiKeyEnv === null) return {};
  const local = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(baseUrl).hostname);
  const isUnset = (process.env[apiKeyEnv] ?? "") === "";
  if (local && isUnset && apiKeyEnv === DEFAULT_KEY_VARIABLE) return {};
  const remedy =
    "For a server without keys: --api-key-env none, or apiKeyEnv: null in the settings.";
  return keyHeader(apiKeyEnv, where, { remedy });
}
