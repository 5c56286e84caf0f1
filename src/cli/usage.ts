import { ConfigError } from "../base/errors.ts";

/** Options or arguments that do not go together, in words for the user. */
export function usage(message: string): ConfigError {
  return new ConfigError("USAGE", message);
}
