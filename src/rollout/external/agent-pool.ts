import { setMaxListeners } from "node:events";
import { RolloutError } from "../../base/errors.ts";
import type { TokenPolicy } from "../policy.ts";
import { type AgentEndpoint, openAgentEndpoint, type Serving } from "./agent-endpoint.ts";
import { type AgentProcess, startAgent } from "./agent-process.ts";

export interface AgentSettings {
  command: readonly string[];
  /** Agents at once. */
  processes: number;
  timeoutSeconds: number;
}

/** Agents that answer questions by the run's own policy. */
export interface AgentPool {
  /**
   * @returns what the agent wrote as its answer: a line of stdout.
   * @throws {RolloutError} AGENT_FAILED, AGENT_TIMEOUT
   * @throws the signal's reason when it aborts.
   */
  ask(question: string, serving: Serving, signal: AbortSignal): Promise<string>;
}

/** A slot for one agent, with a key of its own. */
interface Slot {
  key: string;
  agent: AgentProcess | null;
}

/** Agents without work for this long are ended. */
const IDLE_MS = 60_000;

/** Stands for the question in a command. Such an agent starts anew for every rollout. */
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

/** What an agent needs to find the policy, whatever its SDK. */
function variables(url: string, key: string): Record<string, string> {
  const around = [process.env.NO_PROXY ?? process.env.no_proxy ?? "", "127.0.0.1"];
  const direct = around.filter((each) => each !== "").join(",");
  return { OPENAI_BASE_URL: url, OPENAI_API_KEY: key, NO_PROXY: direct, no_proxy: direct };
}

/** The answer within the deadline; otherwise the agent is killed. */
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
  // One listener for each agent.
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
