import { writeAroundProgress } from "./progress.ts";

/** Where the command line meets the process; a test passes its own. */
export interface CliIo {
  out(text: string): void;
  err(text: string): void;
  /** Whether a person watches stderr. */
  readonly terminal: boolean;
  /** Columns for help. */
  readonly width: number;
  /** Calls back at most once per reason; returns how to stop listening. */
  onStop(listener: (reason: "interrupt" | "pipe-closed") => void): () => void;
}

/** The real process. After the first Ctrl-C the listener is gone, so a second one kills. */
export function processIo(): CliIo {
  return {
    out: (text) => {
      writeAroundProgress(() => process.stdout.write(text));
    },
    err: (text) => {
      writeAroundProgress(() => process.stderr.write(text));
    },
    terminal: process.stderr.isTTY && process.env["TERM"] !== "dumb",
    width: Math.min(process.stdout.isTTY ? process.stdout.columns : 80, 100),
    onStop: (listener) => {
      const interrupt = (): void => {
        listener("interrupt");
      };
      const closed = (error: NodeJS.ErrnoException): void => {
        if (error.code !== "EPIPE") throw error;
        listener("pipe-closed");
      };
      process.once("SIGINT", interrupt);
      process.stdout.on("error", closed);
      process.stderr.on("error", closed);
      return () => process.removeListener("SIGINT", interrupt);
    },
  };
}
