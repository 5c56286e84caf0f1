import type { CliCommand, CommandGroup } from "../../src/cli/command.ts";
import { commandGroups } from "../../src/cli/commands/index.ts";
import { runCommands } from "../../src/cli/main.ts";
import type { CliRun } from "./run-cli.ts";

/**
 * Runs one command of the command line in this process, in a pipe: as `runCli`, without the half second that a
 * process takes.
 *
 * @param hidden text cut out of what was printed: the temporary folder of absolute paths.
 */
export function runCommand(
  command: CliCommand,
  args: readonly string[],
  hidden = "",
): Promise<CliRun> {
  return runProgram(args, [{ title: "Test", commands: [command] }], hidden);
}

/** A command of the program. */
export function commandNamed(name: string): CliCommand {
  const found = commandGroups
    .flatMap(({ commands }) => commands)
    .find((command) => command.name === name);
  if (found === undefined) throw new Error(`no command ${name}`);
  return found;
}

/** As `runCommand`, of several commands. */
export async function runProgram(
  args: readonly string[],
  groups: readonly CommandGroup[],
  hidden = "",
): Promise<CliRun> {
  let stdout = "";
  let stderr = "";
  const status = await runCommands(args, groups, {
    out: (text) => (stdout += text),
    err: (text) => (stderr += text),
    terminal: false,
    outTerminal: false,
    width: 100,
    call: "agentrl",
    onStop: () => () => undefined,
  });
  const visible = (text: string): string => (hidden === "" ? text : text.replaceAll(hidden, ""));
  return { stdout: visible(stdout), stderr: visible(stderr), status };
}
