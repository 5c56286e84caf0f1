import { ConfigError } from "../base/errors.ts";

/**
 * Refuses flags that would have no effect.
 *
 * @param names keys of `flags`, as the parser names them: `unaidedRows`.
 * @param belongTo the option that they need, at the end of the message.
 * @throws {ConfigError} USAGE
 */
export function refuseStray(flags: object, names: readonly string[], belongTo: string): void {
  const given = flags as Readonly<Record<string, unknown>>;
  const stray = names.filter((name) => given[name] !== undefined).map(flagText);
  if (stray.length === 0) return;
  throw new ConfigError(
    "USAGE",
    `${stray.join(", ")} would have no effect: ${stray.length === 1 ? "it belongs" : "they belong"} to ${belongTo}. Leave ${stray.length === 1 ? "it" : "them"} out.`,
  );
}

/** @example flagText("unaidedRows") // "--unaided-rows" */
function flagText(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
