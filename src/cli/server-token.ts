import { ConfigError } from "../base/errors.ts";

/**
 * The token of a server, from the environment.
 * @param name of the variable.
 * @throws {ConfigError} SERVER_TOKEN
 */
export function readToken(name: string): string {
  const token = process.env[name]?.trim() ?? "";
  if (token !== "") return token;
  throw new ConfigError(
    "SERVER_TOKEN",
    `--token-env: the environment variable ${name} is unset or empty. Put a secret into it: export ${name}="$(openssl rand -hex 16)".`,
  );
}
