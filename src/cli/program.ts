import { Command } from "commander";
import { packageVersion } from "../base/package-root.ts";
import type { CliContext, CommandGroup } from "./command.ts";
import { examplesText } from "./examples.ts";
import type { CliIo } from "./io.ts";
import { groupItems, groupOptions } from "./option-headings.ts";
import { rootHelp } from "./root-help.ts";
import { pathOf, refuseRepeated } from "./usage-error.ts";

interface StartOptions {
  quiet?: boolean;
  debug?: boolean;
  /** Parts of the user's own: loaded before the action runs, so that every list of parts holds them. */
  plugin?: readonly string[];
}

interface ProgramEvents {
  /** Before an action runs, with the options that every command takes. */
  onStart(options: StartOptions): void;
  /** Commander found a usage error in the command. */
  onUsageError(command: Command): void;
}

/**
 * The commander program with every registered command. Commander never prints or exits by itself: its text goes
 * through `io`, its exits become errors that `main` reads.
 * @param argv the command line: other commands than the one that it calls have a name and a summary, and are not loaded. Absent: all are.
 */
export async function buildProgram(
  groups: readonly CommandGroup[],
  context: CliContext,
  io: CliIo,
  events: ProgramEvents,
  argv?: readonly string[],
): Promise<Command> {
  const program = new Command("agentrl")
    .description("agentic-RAG reinforcement learning, all of it in Node")
    .version(packageVersion(), "--version", "print the version")
    .helpOption("-h, --help", "explain a command")
    .option("--quiet", "results and errors only")
    .option("--debug", "show where an error comes from")
    .hook("preAction", async (_program, action) => {
      const options = action.optsWithGlobals<StartOptions>();
      events.onStart(options);
      const { plugin = [] } = options;
      if (plugin.length === 0) return;
      const { loadPlugin } = await import("../base/plugins.ts");
      for (const name of plugin) await loadPlugin(name, process.cwd(), "--plugin");
    });
  for (const { title, commands } of groups) {
    program.commandsGroup(title);
    for (const command of commands) {
      const { name, summary } = command;
      if (isCalled(name, argv)) await command.register(program, context, wordAfter(name, argv));
      else program.command(name);
      if (summary !== undefined)
        program.commands.find((each) => each.name() === name)?.summary(summary);
    }
  }
  program.configureHelp({ formatHelp: () => rootHelp(program, io.call) });
  for (const command of withDescendants(program)) {
    refuseRepeated(command);
    groupOptions(command);
    command.exitOverride().configureOutput({
      writeOut: (text) => {
        io.out(text);
      },
      writeErr: (text) => {
        io.err(text);
      },
      getOutHelpWidth: () => io.width,
      getErrHelpWidth: () => io.width,
      outputError: () => {
        events.onUsageError(command);
      },
    });
    if (command !== program) {
      command
        .configureHelp({ subcommandTerm: termOf, groupItems })
        .helpOption("-h, --help", "explain this");
    }
    if (command.commands.length > 0) command.helpCommand(command === program);
    const examples = examplesText(pathOf(command).replace(/^agentrl /, ""), io.call);
    // `serve` does something of its own beside its subcommands.
    if (command.commands.length === 0 || examples !== "")
      command.addHelpText(
        "after",
        `\nEverywhere: --quiet (results and errors only), --debug (stacks).\n${examples}`.trimEnd(),
      );
  }
  return program;
}

/** Whether a command line needs the whole of a command: it calls it, asks for its help, or completes its words. */
function isCalled(name: string, argv: readonly string[] | undefined): boolean {
  if (argv === undefined) return true;
  const [first = "", ...rest] = argv.filter((word) => !word.startsWith("-"));
  return first === name || (["help", "complete"].includes(first) && rest.includes(name));
}

function wordAfter(name: string, argv: readonly string[] = []): string | undefined {
  return argv[argv.indexOf(name) + 1];
}

/** A subcommand and its arguments, without "[options]": the list is for choosing one. */
function termOf(command: Command): string {
  const names = command.registeredArguments.map((argument) => {
    const name = argument.variadic ? `${argument.name()}...` : argument.name();
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return [command.name(), ...names].join(" ");
}

function withDescendants(command: Command): Command[] {
  return [command, ...command.commands.flatMap(withDescendants)];
}
