import { type Command, CommanderError } from "commander";
import { errorMessage } from "../base/errors.ts";
import { packageVersion } from "../base/package-root.ts";
import { hasStuckThreads } from "../base/waits/stuck-threads.ts";
import { StopRequested } from "../run/folder/run-control.ts";
import { withClaims } from "./claim-output.ts";
import type { CliContext, CommandGroup } from "./command.ts";
import { commandGroups } from "./commands/index.ts";
import { EXIT, exitCodeOf, isKnown } from "./exit-code.ts";
import { type CliIo, type PrintingIo, type StopRequest, printing, processIo } from "./io.ts";
import { buildProgram } from "./program.ts";
import { usageError } from "./usage-error.ts";
import "../base/telemetry.ts";

/** Abort reason of a requested stop. */
class StopReason extends Error {
  readonly exitCode: number;

  constructor(message: string, exitCode: number) {
    super(message);
    this.name = "AbortError";
    this.exitCode = exitCode;
  }
}

/** State that is known only after parsing, or after an error. */
interface RunState {
  quiet: boolean;
  debug: boolean;
  /** Whether stdout must carry one JSON document, also of a failure. */
  json: boolean;
  asksHelp: boolean;
  /** Whether a result, or a part of it, is on stdout. */
  answered: boolean;
  /** Command with the usage error, for "see … --help". */
  misused: Command | null;
  /** Whether a stop signal is the normal end of the command. */
  servesUntilStopped: boolean;
}

/** Message and exit status for each stop reason. */
const STOPS: Record<StopRequest, { said: string; exitCode: number }> = {
  interrupt: {
    said: "\nInterrupted: saving finished work. A second Ctrl-C stops at once.\n",
    exitCode: EXIT.interrupted,
  },
  terminate: {
    said: "SIGTERM received: saving finished work. A second SIGTERM stops at once.\n",
    exitCode: EXIT.terminated,
  },
  // No reader is left.
  "hang-up": { said: "", exitCode: EXIT.hungUp },
  "pipe-closed": { said: "", exitCode: EXIT.pipeClosed },
  "output-failed": {
    said: "error: stdout could not be written, perhaps for want of room. What is finished is kept. [FILE_WRITE_FAILED]\n",
    exitCode: EXIT.failed,
  },
};

/**
 * Runs one command line. The only place that prints errors and decides the exit status.
 *
 * @param argv arguments after the program's name.
 * @returns the exit status: 0 done, 1 a bug of ours, 2 usage or recipe, 3 data, 4 the run failed, 5 a required score was missed, 6 could
 *    not be evaluated, 7 the engine stalled; stopped: 129 by SIGHUP, 130 by Ctrl-C, 143 by SIGTERM, 141 when the reader of the output has
 *    closed it.
 */
export function main(argv: readonly string[]): Promise<number> {
  return runCommands(argv, commandGroups, processIo());
}

/** As `main`, with the caller's commands and io. */
export async function runCommands(
  argv: readonly string[],
  groups: readonly CommandGroup[],
  streams: CliIo,
): Promise<number> {
  const io = printing(streams);
  const state: RunState = {
    quiet: false,
    debug: argv.includes("--debug"),
    json: argv.includes("--json"),
    asksHelp: argv[0] === "help" || argv.includes("--help") || argv.includes("-h"),
    answered: false,
    misused: null,
    servesUntilStopped: false,
  };
  const abort = new AbortController();
  const context = createContext(io, state, abort.signal);
  const stopListening = io.onStop((reason) => {
    const { said, exitCode } = STOPS[reason];
    const endsWell = reason === "terminate" && state.servesUntilStopped;
    if (said !== "" && !endsWell) io.err(said);
    abort.abort(
      new StopReason(
        `The command was stopped (${reason}) before its result was complete.`,
        endsWell ? EXIT.done : exitCode,
      ),
    );
  });
  try {
    const events = {
      onStart: (options: { quiet?: boolean }): void => {
        state.quiet = options.quiet === true;
      },
      onUsageError: (command: Command): void => {
        state.misused = command;
      },
    };
    const program = await buildProgram(groups, context, io, events, argv);
    if (argv[0] === "complete") (await import("./completion.ts")).addCompletion(program);
    if (argv.length === 0) io.out(program.helpInformation());
    else
      await withClaims(() => program.parseAsync(withoutVainHelp(program, argv), { from: "user" }));
    const { reason } = abort.signal as { reason: unknown };
    return reason instanceof StopReason ? reportStop(reason, io, state) : EXIT.done;
  } catch (error) {
    return await report(error, io, state, abort.signal);
  } finally {
    stopListening();
  }
}

/** `agentrl trian --help` is handled like `agentrl trian`: an unknown command has no help. */
function withoutVainHelp(program: Command, argv: readonly string[]): readonly string[] {
  const [first = "-"] = argv;
  const known = ["help", ...program.commands.map((command) => command.name())];
  return first.startsWith("-") || known.includes(first) ? argv : [first];
}

function createContext(io: PrintingIo, state: RunState, signal: AbortSignal): CliContext {
  return {
    out: (text) => {
      state.answered = true;
      io.out(text);
    },
    document: (text) => {
      state.answered = true;
      io.document(text);
    },
    note: (text) => {
      if (!state.quiet) io.err(text);
    },
    get terminal() {
      return io.terminal && !state.quiet;
    },
    asksHelp: state.asksHelp,
    call: io.call,
    signal,
    untilStopped: () => {
      state.servesUntilStopped = true;
      return new Promise((resolve) => {
        const stopped = (): void => {
          resolve();
        };
        if (signal.aborted) stopped();
        else signal.addEventListener("abort", stopped, { once: true });
      });
    },
  };
}

/** Prints an error; returns the exit status. */
async function report(
  error: unknown,
  io: PrintingIo,
  state: RunState,
  signal: AbortSignal,
): Promise<number> {
  if (signal.reason instanceof StopReason && isAbort(error, signal))
    return reportStop(signal.reason, io, state);
  if (error instanceof StopRequested)
    return reportStop(new StopReason(error.message, EXIT.interrupted), io, state);
  if (error instanceof CommanderError) {
    // Help (requested, or shown for a family without a subcommand) and the version are already printed.
    if (error.exitCode === 0) return EXIT.done;
    if (error.code === "commander.help" || state.misused === null) return EXIT.usage;
    return report(usageError(error, state.misused), io, state, signal);
  }
  if (isKnown(error)) {
    io.err(`error: ${error.message} [${error.code}]\n`);
    if (state.debug) io.err(`${stackOf(error)}\n`);
    answerWithError(error, io, state);
    return exitCodeOf(error);
  }
  const { asPluginError } = await import("../base/plugins.ts");
  const mistake = asPluginError(error);
  if (mistake !== error) return report(mistake, io, state, signal);
  io.err(
    `error: this is a bug in agentrl, not in what you did: ${errorMessage(error)}\n` +
      `Please report it with the command line and these lines:\n` +
      `agentrl ${packageVersion()}, Node ${process.version}, ${process.platform} ${process.arch}\n` +
      `${stackOf(error)}\n`,
  );
  answerWithError({ code: "BUG", message: errorMessage(error) }, io, state);
  return exitCodeOf(error);
}

/** A program that reads the JSON of a stopped command learns that there is no result. */
function reportStop({ message, exitCode }: StopReason, io: PrintingIo, state: RunState): number {
  // After a hang-up or on a closed pipe there is no reader.
  if (exitCode === EXIT.interrupted || exitCode === EXIT.terminated)
    answerWithError({ code: "INTERRUPTED", message }, io, state);
  return exitCode;
}

/** Under --json a failure is the document on stdout, unless the result is there already: a missed --require has both. */
function answerWithError(
  { code, message }: { code: string; message: string },
  io: PrintingIo,
  { json, answered }: RunState,
): void {
  if (!json || answered) return;
  // A message begins with the place, if there is one: "rows.jsonl:3: …". After its first sentence it says what to do.
  const where = /^(\S+): /.exec(message)?.[1];
  const remedy = /[.?] +([A-Z`-].*)$/s.exec(message)?.[1];
  io.out(`${JSON.stringify({ error: { code, message, where, do: remedy } })}\n`);
}

function isAbort(error: unknown, signal: AbortSignal): boolean {
  if (error === signal.reason) return true;
  return (
    error instanceof Error && (error.name === "AbortError" || isAbortCause(error.cause, signal))
  );
}

function isAbortCause(cause: unknown, signal: AbortSignal): boolean {
  return cause !== undefined && isAbort(cause, signal);
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? "" : `\ncaused by ${stackOf(error.cause)}`;
  return `${error.stack ?? error.message}${cause}`;
}

/** Newer versions of Node than the oldest that is supported can replace the process by another program. */
const { execve } = process as { execve?: (file: string, argv: readonly string[]) => void };

/**
 * Ends the process with the set exit status, even if threads still run. At exit Node waits for every thread, so it would wait forever for a
 * thread that hangs in the system, on a disk or in a driver. A shell then replaces the process and exits with the status; if Node cannot do
 * that (before 22.15, on Windows), the process is killed.
 */
export function leave(): void {
  if (!hasStuckThreads()) process.exit();
  try {
    execve?.("/bin/sh", ["sh", "-c", `exit ${process.exitCode ?? 0}`]);
  } finally {
    process.kill(process.pid, "SIGKILL");
  }
}
