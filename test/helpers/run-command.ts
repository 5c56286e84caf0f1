import type { CliCommand } from "../../src/cli/command.ts";
import { commandGroups } from "../../src/cli/commands/index.ts";
import { type CliRun, runInProcess } from "./run-cli.ts";

/**
 * Runs one command of the command line in this process, as `runCli` does.
 * @param hidden text cut out of what was printed: the temporary folder of absolute paths.
 */
export async function runCommand(
  command: CliCommand,
  args: readonly string[],
  hidden = "",
): Promise<CliRun> {
  const run = await runInProcess(args, [{ title: "Test", commands: [command] }]);
  if (hidden === "") return run;
  const [stdout, stderr] = [run.stdout, run.stderr].map((text) => text.replaceAll(hidden, ""));
  return { stdout: stdout!, stderr: stderr!, status: run.status };
}

/** A command of the program. */
export function commandNamed(name: string): CliCommand {
  const found = commandGroups
    .flatMap(({ commands }) => commands)
    .find((command) => command.name === name);
  if (found === undefined) throw new Error(`no command ${name}`);
  return found;
}
