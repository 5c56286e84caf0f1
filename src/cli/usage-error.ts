import type { Command, CommanderError, Option } from "commander";
import { ConfigError } from "../base/errors.ts";
import { nearestName } from "../base/nearest.ts";
import { usage } from "./usage.ts";

/** Commander's message as one of ours: whole sentences, the nearest spelling, and where to read on. */
export function usageError(error: CommanderError, command: Command): ConfigError {
  const found =
    error.code === "commander.missingMandatoryOptionValue"
      ? (mistakeBeside(error.message, command) ?? error.message)
      : error.message;
  const sentence = found
    .replace(/^error: /, "")
    .replace(/\n\((Did you mean .*\?)\)$/, ". $1")
    .replace(/'([^']*)' is invalid(.*)\. Allowed choices are (.*)\.$/, withNearestChoice)
    .replace(/([^.?])$/, "$1.");
  return new ConfigError("USAGE", `${sentence} See \`${pathOf(command)} --help\`.`, {
    cause: error,
  });
}

/**
 * Commander reports a missing option before an unknown one, so `train --recipie x` would hide the misspelt name. The same for an argument
 * without its option.
 */
function mistakeBeside(message: string, command: Command): string | null {
  const unknown = command.args.find((arg) => /^-./.test(arg));
  if (unknown !== undefined) {
    const nearest = nearestName(unknown.replace(/=.*$/, ""), optionNames(command));
    return `unknown option '${unknown}'${nearest === null ? "" : `. Did you mean ${nearest}?`}`;
  }
  const extra = command.args[command.registeredArguments.length];
  const missing = /'(--\S+) </.exec(message)?.[1];
  if (extra === undefined || missing === undefined) return null;
  return `${message}. Did you mean ${missing} ${extra}?`;
}

function optionNames(command: Command | null): string[] {
  if (command === null) return [];
  const own = command.options.flatMap(({ long }) => long ?? []);
  return [...own, ...optionNames(command.parent)];
}

function withNearestChoice(found: string, value: string, of: string, choices: string): string {
  const nearest = nearestName(value, choices.split(", "));
  if (nearest === null) return found;
  return `'${value}' is invalid${of}. Did you mean ${nearest}? Allowed choices are ${choices}.`;
}

/**
 * Reports an option that is given twice but keeps one value: commander would silently take the last.
 * @throws {ConfigError} USAGE, while the command line is parsed.
 */
export function refuseRepeated(command: Command): void {
  for (const option of command.options.filter(keepsOneValue)) {
    let given = false;
    command.on(`option:${option.name()}`, () => {
      if (given)
        throw usage(
          `${option.long ?? option.flags} is given twice, but it takes one value. ${takesList(option) ? "Separate several values by commas." : "Leave one out."}`,
        );
      given = true;
    });
  }
}

/** A flag without a value may be repeated. A parser that takes the value before collects all values. */
function keepsOneValue(option: Option): boolean {
  const { required, optional, variadic, parseArg, argChoices } = option;
  const collects = argChoices === undefined && (parseArg?.length ?? 0) >= 2;
  return (required || optional) && !variadic && !collects;
}

/** @example "--policy <names>" is comma-separated */
function takesList({ description }: Option): boolean {
  return description.includes("comma-separated");
}

/** @example "agentrl index build" */
export function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
