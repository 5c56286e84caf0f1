import type { Command } from "commander";
import type { Printed } from "../view/terminal.ts";

/** Input and output of the command line: injected, so that commands can be tested without a process. */
export interface CliContext {
  /**
   * Results only; nothing else ever goes to stdout. A missing final newline is added. Control and invisible characters of a string are
   * shown as JSON escapes, which leaves the value of JSON as it is.
   */
  readonly out: (text: Printed) => void;
  /** A result that another program reads byte by byte, such as CSV: as it is in a pipe or a file, and as by `out` on a terminal. */
  readonly document: (text: string) => void;
  /** Everything for people: progress, notes, warnings, on stderr. Silent under --quiet. Final newline as in `out`. */
  readonly note: (text: Printed) => void;
  /** Whether progress may overwrite itself: a person watches stderr, without --quiet. */
  readonly terminal: boolean;
  /** Whether the command line asks for help, whose texts may need more than the command does. */
  readonly asksHelp?: boolean;
  /** How the user starts the program, for commands to copy: `agentrl`, `npx agentrl`. */
  readonly call: string;
  /** Aborted on Ctrl-C, SIGTERM and SIGHUP: finish what is being written, keep it, and throw the reason. */
  readonly signal: AbortSignal;
  /**
   * For a command that runs until it is stopped. Resolves then; SIGTERM gives exit status 0, because it is the normal end of such a
   * command.
   */
  readonly untilStopped: () => Promise<void>;
}

/** One command, or a family: `index build`, `index search`, …; registered in commands/index.ts. */
export interface CliCommand {
  readonly name: string;
  /** Its line in `agentrl --help`. */
  readonly summary?: string;
  /**
   * Adds itself to the program. Actions throw AgentrlError; `main` prints it and sets the exit code.
   * @param next the word after the command's name: a family loads only the member of that name.
   */
  register(program: Command, context: CliContext, next?: string): void | Promise<void>;
}

/** Adds a member to its family: `build` to `index`. */
export type AddMember = (family: Command, context: CliContext) => void | Promise<void>;

/** Commands that serve one purpose, under one heading of `agentrl --help`. */
export interface CommandGroup {
  readonly title: string;
  readonly commands: readonly CliCommand[];
}

/** A command whose module is loaded when it is called. */
export function command(
  name: string,
  summary: string,
  load: () => Promise<CliCommand>,
): CliCommand {
  return {
    name,
    summary,
    async register(program, context, next) {
      await (await load()).register(program, context, next);
    },
  };
}

/**
 * A family of commands. The module of a member is loaded when it is called; every member's, for the family's help.
 * @param own what the family does without a member, if anything.
 */
export function family(
  name: string,
  { summary, description }: { summary: string; description: string },
  members: Readonly<Record<string, () => Promise<AddMember>>>,
  own?: () => Promise<AddMember>,
): CliCommand {
  return {
    name,
    summary,
    async register(program, context, next = "") {
      const parent = program.command(name).description(description);
      const named = members[next];
      const loaders = named === undefined ? Object.values(members) : [named];
      const all = own === undefined ? loaders : [own, ...loaders];
      for (const add of await Promise.all(all.map((load) => load()))) await add(parent, context);
    },
  };
}
