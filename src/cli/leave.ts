import { hasStuckThreads } from "../base/waits/stuck-threads.ts";

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
