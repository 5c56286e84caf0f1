import { type Command, InvalidArgumentError, Option } from "commander";
import { ConfigError } from "../base/errors.ts";
import { deviceNames } from "../onnx/device-names.ts";
import { usage } from "./usage.ts";

/** What reads an option's value: a parser, or the values that are allowed. */
type Reads =
  | (((text: string, before: never) => unknown) & { choices?: readonly string[] })
  | readonly string[];

/** How an option's value is written ("" for a switch), what the option does, what reads the value, and its default. */
type OptionSpec = readonly [value: string, does: string, reads?: Reads, preset?: unknown];

/** Options of a command by their key among the parsed flags: `bodyLimit` is --body-limit. */
export type OptionTable = Readonly<Record<string, OptionSpec>>;

type ReadBy<R> = R extends (...args: never) => infer V
  ? V
  : R extends readonly (infer C)[]
    ? C
    : string;

export type ValueOf<S> = S extends readonly ["", ...unknown[]]
  ? true
  : S extends readonly [infer V, string, infer R, ...unknown[]]
    ? ReadBy<R> | (V extends `[${string}` ? true : never)
    : string;

/** --no-x has the flag x. */
type KeyOf<K> = K extends `no${infer N}` ? (N extends Capitalize<N> ? Uncapitalize<N> : K) : K;

type ValueAt<T, K extends keyof T> = K extends unknown
  ? KeyOf<K> extends K
    ? ValueOf<T[K]>
    : boolean
  : never;

type WithDefault = readonly [unknown, unknown, unknown, unknown];

/** The parsed flags of a table: those with a default are always there. */
export type Flags<T> = {
  -readonly [K in keyof T as T[K] extends WithDefault ? never : KeyOf<K>]?: ValueAt<T, K>;
} & { -readonly [K in keyof T as T[K] extends WithDefault ? K : never]: ValueOf<T[K]> };

/** A table of options, from which the type of the flags is derived. */
export function options<const T extends OptionTable>(table: T): T {
  return table;
}

/** Adds the options of tables to a command, in order. */
export function addOptions(command: Command, ...tables: readonly OptionTable[]): Command {
  for (const [key, [value, does, reads, preset]] of tables.flatMap((each) =>
    Object.entries(each),
  )) {
    const short = key === "k" ? "-k, " : "";
    const option = new Option(`${short}${flagText(key)} ${value}`.trimEnd(), does);
    const choices = typeof reads === "function" ? reads.choices : reads;
    if (choices !== undefined) option.choices(choices);
    if (typeof reads === "function")
      option.argParser(reads as (text: string, before: unknown) => unknown);
    if (preset !== undefined) option.default(preset);
    command.addOption(option);
  }
  return command;
}

/** Parser of an option that may be repeated. */
export function repeated(text: string, before: string[] | undefined): string[] {
  return [...(before ?? []), text];
}

/**
 * Options with the same meaning in every command. None has a default here: the recipe or the command sets it. Every command also takes
 * --quiet and --debug.
 */
/** --json of a command that adds its options by itself. */
export function jsonOption(): Option {
  return new Option("--json", "one JSON document on stdout");
}

export function jsonFlag(what = "one JSON document on stdout") {
  return ["", what] as const;
}

/** A whole number from 0. */
export function seedFlag(
  what = "seed of all random choices; the same seed gives the same result (default: the recipe's)",
) {
  return ["<n>", what, wholeNumber(0)] as const;
}

/** Path of the result. */
export function outFlag(what: string) {
  return ["<path>", what] as const;
}

/** Where a server listens. @param token what the variable of --token-env holds. */
export function listenOptions(port: number, { token = "token that clients must send" } = {}) {
  const host = "address to listen on; other than this machine it needs --token-env";
  return options({
    host: ["<address>", host, String, "127.0.0.1"],
    port: ["<n>", "port; 0 takes any free port", wholeNumber(0, 65_535), port],
    tokenEnv: ["<name>", `environment variable with the ${token}`],
  });
}

/** Permission to replace what exists, for `claimOutput`. */
export function overwriteFlag(what = "replace an existing file") {
  return ["", what] as const;
}

/** Settings that override the recipe. */
export function setFlag(
  what = "override a setting of the recipe, e.g. algorithm.groupSize=4; repeatable",
) {
  return ["<key=value>", what, repeated] as const;
}

/** The user's own parts. */
export function pluginFlag() {
  const what =
    "load parts of your own from a file or an npm package, e.g. ./my-parts.mjs (docs/extend.md); repeatable";
  return ["<file>", what, repeated] as const;
}

/** Size of a run. */
export function tierFlag(
  what = "size of the run: smoke (seconds), mini (minutes on a CPU), paper (published settings); default: mini where the recipe has it",
) {
  return ["<tier>", what] as const;
}

/** Requirements on the measured metrics. @param example in the help. */
export function requireFlag(example: string) {
  const what = `fail with status 5 unless it holds, e.g. "${example}"; repeatable`;
  return ["<condition>", what, repeated] as const;
}

/** Reads the name of a part: of the package, or of a plug-in, which the command itself checks. */
export function anyOf(names: readonly string[]) {
  return Object.assign((name: string): string => name, { choices: names });
}

/** Device of sampling and training; engine.device of a recipe. */
export function deviceFlag() {
  const what =
    "where the policy runs (default: the recipe's; auto: the CPU for a small model, else a GPU if it is faster)";
  return ["<name>", what, ["auto", ...deviceNames]] as const;
}

/** Parser for an option's argument: a whole number from `min` to `max`. */
export function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^-?\d+$/.test(text) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number ${range(min, max)}.`);
  };
}

/** Parser for an option's argument: any finite number from `min` to `max`. */
export function decimal(min = -Infinity, max = Infinity): (text: string) => number {
  return (text) => {
    const value = text.trim() === "" ? Number.NaN : Number(text);
    if (Number.isFinite(value) && value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a number ${range(min, max)}.`.replace(" .", "."));
  };
}

function range(min: number, max: number): string {
  if (max === Infinity || max === Number.MAX_SAFE_INTEGER)
    return min === -Infinity ? "" : `from ${min}`;
  return min === -Infinity ? `up to ${max}` : `from ${min} to ${max}`;
}

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
  throw usage(
    `${stray.join(", ")} would have no effect: ${stray.length === 1 ? "it belongs" : "they belong"} to ${belongTo}. Leave ${stray.length === 1 ? "it" : "them"} out.`,
  );
}

/** @example flagText("unaidedRows") // "--unaided-rows" */
export function flagText(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/** The token of a server, from the environment. @param name of the variable. @throws {ConfigError} SERVER_TOKEN */
export function readToken(name: string): string {
  const token = process.env[name]?.trim() ?? "";
  if (token !== "") return token;
  throw new ConfigError(
    "SERVER_TOKEN",
    `--token-env: the environment variable ${name} is unset or empty. Put a secret into it: export ${name}="$(openssl rand -hex 16)".`,
  );
}
