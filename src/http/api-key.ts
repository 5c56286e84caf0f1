import { ConfigError } from "../base/errors.ts";

/**
 * A key from the environment; white space around it is dropped.
 *
 * @param variable its name.
 * @param where the option that names it, for the message.
 * @param remedy what else can be done, as a sentence.
 * @throws {ConfigError} HTTP_KEY_MISSING when the variable is absent, empty or cannot stand in a header; the message never
 *   holds the value.
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
  // Node's own refusal of such a header would print the key.
  if (/[^\x21-\x7e]/.test(value)) {
    throw new ConfigError(
      "HTTP_KEY_MISSING",
      `${where}: the environment variable ${variable} holds white space or characters that no key has. Set it to the key alone.${hint}`,
    );
  }
  return value;
}
