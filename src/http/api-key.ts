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
  if (value === "") {
    throw new ConfigError(
      "HTTP_KEY_MISSING",
      `${where}: the environment variable ${variable} is not set. Put the key into it.${hint}`,
    );
  }
  // Node's error for such a header would print the key.
  if (/[^\x21-\x7e]/.test(value)) {
    throw new ConfigError(
      "HTTP_KEY_MISSING",
      `${where}: the environment variable ${variable} contains white space or characters that no key has. Set it to the key only.${hint}`,
    );
  }
  return value;
}

/**
 * The key of an OpenAI-compatible server, for its client. An unset variable is not an error for a server on this
 * machine: it gets no key.
 * @throws {ConfigError} HTTP_KEY_MISSING
 */
export function modelKey(
  name: string,
  { baseUrl, apiKeyEnv }: { baseUrl: string; apiKeyEnv: string | null },
): Pick<Endpoint, "headers" | "keys"> {
  if (apiKeyEnv === null) return {};
  const local = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(baseUrl).hostname);
  if (local && (process.env[apiKeyEnv] ?? "") === "") return {};
  const remedy = "For a server without keys, set apiKeyEnv to null.";
  const key = readApiKey(apiKeyEnv, `${name}.apiKeyEnv`, remedy);
  return { headers: { authorization: `Bearer ${key}` }, keys: { [apiKeyEnv]: key } };
}
