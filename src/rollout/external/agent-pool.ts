import { spawn } from "node:child_process";
import { setMaxListeners } from "node:events";
import { createInterface } from "node:readline";
import { RolloutError } from "../../base/errors.ts";
import type { TokenPolicy } from "../policy.ts";
import { type AgentEndpoint, type Serving, openAgentEndpoint } from "./agent-endpoint.ts";

export interface AgentSettings {
  command: readonly string[];
  processes: number;
  timeoutSeconds: number;
}

/** Agents that answer questions by the run's own policy. */
export interface AgentPool {
  /** @returns the agent's answer: a line of stdout. @throws {RolloutError} AGENT_FAILED, AGENT_TIMEOUT. @throws the signal's reason. */
  ask(question: string, serving: Serving, signal: AbortSignal): Promise<string>;
}

type Slot = { key: string; agent: AgentProcess | null };

const IDLE_MS = 60_000;

const PLACE = "{question}";

const pools = new WeakMap<TokenPolicy, Map<string, AgentPool>>();

/** The agents of a policy and command: started when first asked, ended when idle or when this process ends. */
export function agentPool(policy: TokenPolicy, settings: AgentSettings): AgentPool {
  const known = pools.get(policy) ?? new Map<string, AgentPool>();
  pools.set(policy, known);
  const name = JSON.stringify(settings);
  const pool = known.get(name) ?? openPool(settings);
  known.set(name, pool);
  return pool;
}

function openPool({ command, processes, timeoutSeconds }: AgentSettings): AgentPool {
  const startsAnew = command.some((part) => part.includes(PLACE));
  let endpoint: Promise<AgentEndpoint> | null = null;
  let slots: Slot[] = [];
  const waiting: ((slot: Slot) => void)[] = [];
  let active = 0;
  let idle: NodeJS.Timeout | null = null;
  const closeIdle = (): void => {
    for (const { agent } of slots) agent?.kill();
    slots = [];
    void endpoint?.then((each) => {
      each.close();
    });
    endpoint = null;
  };
  const take = async (): Promise<Slot> => {
    if (active >= processes) return new Promise((resolve) => waiting.push(resolve));
    active += 1;
    if (idle !== null) clearTimeout(idle);
    const opened = await (endpoint ??= openAgentEndpoint());
    opened.keepAlive(true);
    return slots.pop() ?? { key: opened.newKey(), agent: null };
  };
  const giveBack = async (slot: Slot): Promise<void> => {
    const next = waiting.shift();
    if (next !== undefined) {
      next(slot);
      return;
    }
    active -= 1;
    slots.push(slot);
    if (active > 0) return;
    (await endpoint)?.keepAlive(false);
    idle = setTimeout(closeIdle, IDLE_MS).unref();
  };
  return {
    async ask(question, serving, signal) {
      const slot = await take();
      const opened = await (endpoint ??= openAgentEndpoint());
      try {
        signal.throwIfAborted();
        opened.assign(slot.key, serving);
        const line = question.replace(/\s*\n\s*/g, " ");
        const shown = command.map((part) => part.replaceAll(PLACE, () => line));
        if (slot.agent?.isRunning !== true)
          slot.agent = startAgent(shown, variables(opened.url, slot.key));
        const { agent } = slot;
        if (!startsAnew) agent.send(line);
        const answer = startsAnew ? agent.lastLine() : agent.nextLine();
        return await bounded(answer, { agent, signal, timeoutSeconds });
      } catch (error) {
        // It has ended or was killed; its last requests must not reach the next question.
        opened.assign(slot.key, null);
        Object.assign(slot, { agent: null, key: opened.newKey() });
        throw error;
      } finally {
        opened.assign(slot.key, null);
        if (startsAnew) slot.agent = null;
        await giveBack(slot);
      }
    },
  };
}

function variables(url: string, key: string): Record<string, string> {
  const around = [process.env.NO_PROXY ?? process.env.no_proxy ?? "", "127.0.0.1"];
  const direct = around.filter((each) => each !== "").join(",");
  return { OPENAI_BASE_URL: url, OPENAI_API_KEY: key, NO_PROXY: direct, no_proxy: direct };
}

async function bounded(
  answer: Promise<string>,
  {
    agent,
    signal,
    timeoutSeconds,
  }: { agent: AgentProcess; signal: AbortSignal; timeoutSeconds: number },
): Promise<string> {
  let stop = (_: unknown): void => undefined;
  const stopped = new Promise<never>((_, reject) => (stop = reject));
  const timer = setTimeout(() => {
    const message = `agent: no answer within ${timeoutSeconds} s (strategy.timeoutSeconds); it was ended.`;
    stop(new RolloutError("AGENT_TIMEOUT", message));
  }, timeoutSeconds * 1000);
  const onAbort = (): void => {
    stop(signal.reason);
  };
  setMaxListeners(0, signal);
  signal.addEventListener("abort", onAbort);
  try {
    return await Promise.race([answer, stopped]);
  } catch (error) {
    agent.kill();
    answer.catch(() => undefined);
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

interface AgentProcess {
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

const TOLD = 500;

const LONGEST = 2 ** 20;

const MOST_LINES = 10_000;

const running = new Set<AgentProcess>();
process.once("exit", () => {
  for (const agent of running) agent.kill();
});

/** @param environment added to this process's variables. */
function startAgent(
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
