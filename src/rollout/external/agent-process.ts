import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { RolloutError } from "../../base/errors.ts";

/** A running agent. Its process group ends with it. */
export interface AgentProcess {
  /** Sends a line to its stdin; unread lines of its stdout are dropped. */
  send(line: string): void;
  /** The next line of its stdout; an empty one is an answer too. @throws {RolloutError} AGENT_FAILED when it ends without one. */
  nextLine(): Promise<string>;
  /** The last line of its stdout that is not empty, after it has ended well. @throws {RolloutError} AGENT_FAILED */
  lastLine(): Promise<string>;
  readonly isRunning: boolean;
  /** An idle agent does not keep this process running; it ends when its stdin does. */
  unref(): void;
  kill(): void;
}

/** Characters of stderr that a message quotes. */
const TOLD = 500;

/** Longest stdout line, in characters; an agent that writes more is ended. */
const LONGEST = 2 ** 20;

/** Most unread lines of an agent's stdout. */
const MOST_LINES = 10_000;

const running = new Set<AgentProcess>();
process.once("exit", () => {
  for (const agent of running) agent.kill();
});

/** @param environment added to this process's variables. */
export function startAgent(
  command: readonly string[],
  environment: Readonly<Record<string, string>>,
): AgentProcess {
  const [program = "", ...rest] = command;
  const env = { ...process.env, ...environment };
  const child = spawn(program, rest, { env, detached: true, stdio: ["pipe", "pipe", "pipe"] });
  let stderr = "";
  let ended: string | null = null;
  let code: number | null = null;
  let changed = (): void => undefined;
  const lines: string[] = [];
  child.stdin.on("error", () => undefined);
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr = (stderr + text).slice(-TOLD);
  });
  createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(line.trim().slice(0, LONGEST));
    if (lines.length > MOST_LINES) agent.kill();
    changed();
  });
  const end = (why: string): void => {
    ended ??= why;
    running.delete(agent);
    changed();
  };
  child.on("error", ({ message }) => {
    end(`could not be started (${message})`);
  });
  // After its pipes are read: the last line may come behind the exit.
  child.on("close", (status, signal) => {
    code = status;
    end(signal === null ? `ended with status ${status ?? 0}` : `was ended by ${signal}`);
  });
  const failed = (): RolloutError => {
    const said = stderr.trim() === "" ? "It wrote nothing to stderr." : `Its stderr: ${stderr.trim()}`; // prettier-ignore
    return new RolloutError("AGENT_FAILED", `agent ${program}: ${ended ?? "failed"} before it had answered. ${said}`); // prettier-ignore
  };
  const untilChanged = (): Promise<void> => new Promise((resolve) => (changed = resolve));
  const agent: AgentProcess = {
    send(line) {
      // What it wrote behind its last answer answers nothing.
      lines.length = 0;
      child.stdin.write(`${line}\n`);
    },
    async nextLine() {
      for (;;) {
        const line = lines.shift();
        if (line !== undefined) return line;
        if (ended !== null) throw failed();
        await untilChanged();
      }
    },
    async lastLine() {
      child.stdin.end();
      while (ended === null) await untilChanged();
      if (code !== 0) throw failed();
      return lines.findLast((line) => line !== "") ?? "";
    },
    get isRunning() {
      return ended === null;
    },
    unref() {
      child.unref();
      for (const pipe of [child.stdin, child.stdout, child.stderr])
        (pipe as unknown as { unref(): void }).unref();
    },
    kill() {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      } catch {
        // It has ended already.
      }
    },
  };
  running.add(agent);
  agent.unref();
  return agent;
}
