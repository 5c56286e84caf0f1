import { InvalidArgumentError, Option } from "commander";
import { deviceNames } from "../onnx/device-names.ts";

/**
 * Options with the same meaning in every command. None has a default here: the recipe or the command sets it. Every command also takes
 * --quiet and --debug.
 */
export function jsonOption(what = "one JSON document on stdout"): Option {
  return new Option("--json", what);
}

/** --seed N, a whole number from 0. */
export function seedOption(
  what = "seed of all random choices; the same seed gives the same result (default: the recipe's)",
): Option {
  return new Option("--seed <n>", what).argParser(wholeNumber(0));
}

/** --out PATH: path of the result. */
export function outOption(what: string): Option {
  return new Option("--out <path>", what);
}

/** --overwrite: permission to replace what exists, for `claimOutput`. */
export function overwriteOption(what = "replace an existing file"): Option {
  return new Option("--overwrite", what);
}

/** --set key=value, repeatable: settings that override the recipe. */
export function setOption(
  what = "override a setting of the recipe, e.g. algorithm.groupSize=4; repeatable",
): Option {
  return new Option("--set <key=value>", what).argParser(
    (text: string, before: string[] | undefined) => [...(before ?? []), text],
  );
}

/** --plugin FILE: the user's own parts. */
export function pluginOption(): Option {
  return new Option(
    "--plugin <file>",
    "load parts of your own from a file or an npm package, e.g. ./my-parts.mjs (docs/extend.md); repeatable",
  ).argParser((text: string, before: string[] | undefined) => [...(before ?? []), text]);
}

/** An option whose value names a part: of the package, or of a plug-in, which the command itself checks. */
export function partOption(flags: string, description: string, names: readonly string[]): Option {
  return new Option(flags, description).choices(names).argParser((name: string) => name);
}

/** --device NAME: device of sampling and training; engine.device of a recipe. */
export function deviceOption(): Option {
  return new Option(
    "--device <name>",
    "where the policy runs (default: the recipe's; auto: the CPU for a small model, else a GPU if it is faster)",
  ).choices(["auto", ...deviceNames]);
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
  if (max === Infinity || max === Number.MAX_SAFE_INTEGER) {
    return min === -Infinity ? "" : `from ${min}`;
  }
  return min === -Infinity ? `up to ${max}` : `from ${min} to ${max}`;
}
