import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Signals that a terminal sends for keys; a program that reads single keys must send them itself. */
export interface TerminalSignals {
  /** Ctrl-C. */
  interrupt(): void;
  /** Ctrl-Z: stops the process. @param onResumed after it continues, perhaps in the background. */
  suspend(onResumed: () => void): void;
  /** Ctrl-\. */
  quit(): void;
  /** Whether the process may use its terminal: a background process would be stopped. */
  isForeground(): boolean;
}

/** The signals of this process. */
export const processSignals: TerminalSignals = {
  interrupt() {
    // Windows knows no signal to send, only listeners.
    if (process.listenerCount("SIGINT") > 0) process.emit("SIGINT", "SIGINT");
    else process.kill(process.pid, "SIGINT");
  },
  suspend(onResumed) {
    process.once("SIGCONT", onResumed);
    process.kill(process.pid, "SIGTSTP");
  },
  quit() {
    process.kill(process.pid, "SIGQUIT");
  },
  isForeground() {
    try {
      return foregroundOf(readFileSync("/proc/self/stat", "utf8"));
    } catch {
      // Not Linux: ps marks a process of its terminal's foreground by a plus.
      const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(process.pid)], {
        encoding: "utf8",
      });
      return typeof stdout !== "string" || stdout.trim() === "" || stdout.includes("+");
    }
  },
};

/** Linux, proc(5): the process's group is its terminal's foreground group. @param stat of /proc/<pid>/stat. */
export function foregroundOf(stat: string): boolean {
  // The second field is the program's name, in brackets, and may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [, , group, , , terminalGroup] = fields;
  return terminalGroup === "-1" || group === terminalGroup;
}
