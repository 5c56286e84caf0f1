import { hasStuckThreads } from "../base/waits/stuck-threads.ts";

/** Newer versions of Node than the oldest that is supported can replace the process by another program. */
const { execve } = process as { execve?: (file: string, argv: readonly string[]) => void };

/**
 * Ends the process, whatever still runs in it, with the exit status that is set. Node waits at its end for every thread, and so for ever for
 * one that hangs in the system, on a disk or in a driver: then a shell takes the process's place and exits with the status, and where Node
 * cannot do that (before 22.15, on Windows) the process is killed.
 */
export function leave(): void {
  if (!hasStuckThreads()) process.exit();
  try {
    execve?.("/bin/sh", ["sh", "-c", `exit ${process.exitCode ?? 0}`]);
  } finally {
    process.kill(process.pid, "SIGKILL");
  }
}
