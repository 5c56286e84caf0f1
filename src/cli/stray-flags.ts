import { ConfigError } from "../base/errors.ts";

/**
 * Refuses flags that would be passed over.
 *
 * @param names keys of `flags`, as the parser names them: `unaidedRows`.
 * @param belongTo what they are for and what is not asked for, as the message ends.
 * @throws {ConfigError} USAGE
 */
export function refuseStray(flags: object, names: readonly string[], belongTo: string): void {
  const given = flags as Readonly<Record<string, unknown>>;
  const stray = names.filter((name) => given[name] !== undefined).map(flagText);
  if (stray.length === 0) return;
  throw new ConfigError(
    "USAGE",
    `${stray.join(", ")} would be passed over: ${stray.length === 1 ? "it belongs" : "they belong"} to ${belongTo}. Leave ${stray.length === 1 ? "it" : "them"} out.`,
  );
}

/** @example flagText("unaidedRows") // "--unaided-rows" */
function flagText(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
