import type { Command } from "commander";

/** The borders of the command line: injected, so that commands can be tested without a process. */
export interface CliContext {
  /** Results only; nothing else ever goes to stdout. A final newline is added where it lacks one. */
  readonly out: (text: string) => void;
  /** Everything for people: progress, notes, warnings, on stderr. Silent under --quiet. Final newline as in `out`. */
  readonly note: (text: string) => void;
  /** Progress that overwrites itself; shown on a terminal only, silent under --quiet. */
  readonly terminal: boolean;
  /** Aborted on Ctrl-C, SIGTERM and SIGHUP: finish what is being written, keep it, and throw the reason. */
  readonly signal: AbortSignal;
  /** For a command that runs until it is told to stop. Resolves then; after SIGTERM the exit status is 0: it is how such a command ends well. */
  readonly untilStopped: () => Promise<void>;
}

/**
 * One command (or family: `index build`, `index search`, …), one file, registered in commands/index.ts.
 * Import what is slow to load (runtime, models) inside the action: `agentrl --help` loads every command file.
 */
export interface CliCommand {
  readonly name: string;
  /** Adds itself to the program. Actions throw AgentrlError; `main` prints it and sets the exit code. */
  register(program: Command, context: CliContext): void;
}

/** Commands that serve one purpose, under one heading of `agentrl --help`. */
export interface CommandGroup {
  readonly title: string;
  readonly commands: readonly CliCommand[];
}
