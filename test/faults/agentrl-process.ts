import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..");
const program = join(root, "bin", "agentrl.js");

/** How the process of a test is to be started. */
export interface StartOptions {
  /** Folder to run in: paths of commands are relative to it, so that two of equal contents leave equal bytes. */
  cwd: string;
  env?: Record<string, string>;
  /** A shell's words before the program, such as `ulimit -n 40;`. */
  under?: string;
}

/** How a process ended. */
export interface Ended {
  /** Null where a signal ended it. */
  status: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
  /** From its start to its end, milliseconds. */
  ms: number;
}

/** The built `agentrl`, running. */
export interface AgentrlProcess {
  child: ChildProcess;
  /** What it has said so far, for who waits for a word of it. */
  said(): string;
  ended: Promise<Ended>;
}

/** Starts the built program as a user types it, in a pipe. */
export function startAgentrl(args: readonly string[], options: StartOptions): AgentrlProcess {
  const { cwd, env = {}, under } = options;
  const own = [process.execPath, program, ...args];
  const [command = "", ...rest] =
    under === undefined ? own : ["bash", "-c", `${under} exec "$@"`, "bash", ...own];
  const begun = performance.now();
  const child = spawn(command, rest, { cwd, env: { ...process.env, NO_COLOR: "1", ...env } });
  let [stdout, stderr] = ["", ""];
  child.stdout.on("data", (piece: Buffer) => (stdout += piece.toString()));
  child.stderr.on("data", (piece: Buffer) => (stderr += piece.toString()));
  const ended = new Promise<Ended>((resolve) => {
    child.on("close", (status, signal) => {
      resolve({ status, signal, stdout, stderr, ms: performance.now() - begun });
    });
  });
  return { child, said: () => stdout + stderr, ended };
}

/** Runs the built program to its end. */
export function runAgentrl(args: readonly string[], options: StartOptions): Promise<Ended> {
  return startAgentrl(args, options).ended;
}
