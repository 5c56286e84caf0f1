import { existsSync } from "node:fs";
import { basename, delimiter, join, relative, sep } from "node:path";
import { isatty } from "node:tty";
import { visibleText } from "../base/visible-text.ts";
import { Painted, painted } from "../view/styled.ts";
import { blockLines, type Printed } from "../view/terminal.ts";
import { EXIT } from "./exit-code.ts";
import { writeAroundProgress } from "./held-terminal.ts";
import { type Screen, screenOf } from "./trace/screen.ts";

/**
 * Why a process must stop: Ctrl-C; SIGTERM, as containers and schedulers send it; SIGHUP, when its terminal is closed; the reader of its
 * output has closed it, or the disk is full.
 */
export type StopRequest = "interrupt" | "terminate" | "hang-up" | "pipe-closed" | "output-failed";

/** The process's side of the command line; a test passes its own. */
export interface CliIo {
  out(text: string): void;
  err(text: string): void;
  /** Whether a person watches stderr. */
  readonly terminal: boolean;
  /** Whether a person watches stdout. */
  readonly outTerminal: boolean;
  /** Of stdout and stderr; undefined: a pipe. */
  readonly outScreen?: Screen;
  readonly errScreen?: Screen;
  /** Columns for help. */
  readonly width: number;
  /** How the user starts the program, for commands to copy. */
  readonly call: string;
  /** Calls back when the process must stop; returns a function to stop listening. */
  onStop(listener: (reason: StopRequest) => void): () => void;
}

/** Lines in a pipe are as long as their text. */
const PIPE: Screen = { columns: Infinity, colours: false };

/** The border that everything printed crosses. It adds a missing final newline. */
export interface PrintingIo extends Omit<CliIo, "out" | "err"> {
  out(text: Printed): void;
  err(text: Printed): void;
  /** Unchanged, if stdout is not a terminal. */
  document(text: string): void;
}

/**
 * Lets no control sequence of data through. Colours are no exception, because data can imitate them and hide text: only `Painted`, whose
 * pieces are shown before they get their style, has escape codes.
 */
export function printing(io: CliIo): PrintingIo {
  const shown = (text: Printed, { columns, colours }: Screen = PIPE): string => {
    if (typeof text === "string") return closed(visibleText(text));
    return closed(
      (text instanceof Painted ? text : painted(blockLines(text, columns), colours)).text,
    );
  };
  return {
    ...io,
    out: (text) => {
      io.out(shown(text, io.outScreen));
    },
    err: (text) => {
      io.err(shown(text, io.errScreen));
    },
    document: (text) => {
      io.out(io.outTerminal ? shown(text) : closed(text));
    },
  };
}

function closed(text: string): string {
  return text.endsWith("\n") ? text : `${text}\n`;
}

/**
 * The real process. After the first Ctrl-C or SIGTERM its listener is gone, so a second one kills. The system and the shell both report a
 * closed terminal, so a second SIGHUP is ignored. Without a terminal at stdin, stdout or stderr SIGHUP is ignored: the process then runs
 * under nohup, whose setting Node resets at its start.
 */
export function processIo(): CliIo {
  return {
    out: (text) => {
      writeAroundProgress(() => process.stdout.write(text));
    },
    err: (text) => {
      writeAroundProgress(() => process.stderr.write(text));
    },
    terminal: process.stderr.isTTY && process.env["TERM"] !== "dumb",
    outTerminal: process.stdout.isTTY,
    outScreen: process.stdout.isTTY ? screenOf(process.stdout, process.env) : undefined,
    errScreen: process.stderr.isTTY ? screenOf(process.stderr, process.env) : undefined,
    width: Math.min(process.stdout.isTTY ? process.stdout.columns : 80, 100),
    call: programCall(),
    onStop: (listener) => {
      const interrupt = (): void => {
        listener("interrupt");
      };
      const terminate = (): void => {
        listener("terminate");
      };
      const hangUp = (): void => {
        if ([0, 1, 2].some((stream) => isatty(stream))) listener("hang-up");
      };
      // EIO: the terminal was closed. Other failures of stderr lose only messages for people.
      const saidFailed = ({ code }: NodeJS.ErrnoException): void => {
        if (code === "EPIPE" || code === "EIO") listener("pipe-closed");
      };
      const resultFailed = (error: NodeJS.ErrnoException): void => {
        saidFailed(error);
        if (error.code === "EPIPE" || error.code === "EIO") return;
        // The command may have ended meanwhile.
        process.exitCode = EXIT.failed;
        listener("output-failed");
      };
      process.once("SIGINT", interrupt);
      process.once("SIGTERM", terminate);
      process.on("SIGHUP", hangUp);
      process.stdout.on("error", resultFailed);
      process.stderr.on("error", saidFailed);
      return () => {
        process.removeListener("SIGINT", interrupt);
        process.removeListener("SIGTERM", terminate);
        process.removeListener("SIGHUP", hangUp);
      };
    },
  };
}

/**
 * How a shell of the user starts this program, for commands to copy: `agentrl` where the shell finds it; `node bin/agentrl.js` for a copy
 * of the sources that was started so; else `npx agentrl`, which also finds a local install.
 */
export function programCall(
  path = process.env["PATH"] ?? "",
  script = process.argv[1] ?? "",
): string {
  // npm and npx add these folders for the programs that they start; the user's shell does not have them.
  const folders = path.split(delimiter).filter((folder) => basename(folder) !== ".bin");
  const names = ["agentrl", "agentrl.cmd"];
  if (folders.some((folder) => names.some((name) => existsSync(join(folder, name)))))
    return "agentrl";
  const isSource = basename(script) === "agentrl.js" && !script.split(sep).includes("node_modules");
  return isSource ? `node ${relative(".", script)}` : "npx agentrl";
}
