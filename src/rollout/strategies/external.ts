import { ConfigError, RolloutError } from "../../base/errors.ts";
import { checkOptions, z } from "../../base/schema.ts";
import { budgetOf, budgetsAt } from "../../env/budget.ts";
import type { Tokenizer } from "../../text/tokenizer.ts";
import type { EndReason, Trajectory } from "../../trajectory/trajectory.ts";
import type { Serving } from "../external/agent-endpoint.ts";
import { agentPool } from "../external/agent-pool.ts";
import type { TokenPolicy } from "../policy.ts";
import { type RolloutOptions, record, timed } from "../record.ts";
import { type Conversation, openConversation } from "../served/conversation.ts";
import { plainTemplate } from "../served/message-keys.ts";
import { DEFAULT_TURN_TOKENS } from "../token-dialogue.ts";
import { defineStrategy } from "./strategy.ts";

const options = z.strictObject({
  /**
   * Program and arguments of the agent. With "{question}" among them it is started for every rollout, and the last line of its stdout is its
   * answer; else it stays, reads a question per line from stdin and writes an answer per line to stdout.
   */
  command: z.array(z.string().min(1)).min(1),
  /** Agents at once. */
  processes: z.int().min(1).default(16),
  /** Seconds for one question; then the agent is killed, and the rollout has failed. */
  timeoutSeconds: z.number().positive().default(120),
  /** agent: every answer must be JSON with a reward, `{"answer": …, "reward": 1}`, which the reward `environment` then is. */
  reward: z.enum(["recipe", "agent"]).default("recipe"),
});

const reported = z.looseObject({ answer: z.string().nullish(), reward: z.number().optional() });

/** An agent's own program, in any language, answers; it asks the policy over OpenAI's API. docs/servers.md */
export const external = defineStrategy({
  name: "external",
  summary: "A program of yours answers; it asks the policy over OpenAI's API.",
  prompts: "own",
  searches: false,
  options,
  run: (rollout, settings) => record(rollout, (trajectory) => play(rollout, settings, trajectory)),
});

async function play(
  rollout: RolloutOptions,
  { reward: judge, ...settings }: z.output<typeof options>,
  trajectory: Trajectory,
): Promise<EndReason> {
  const policy = tokensOf(rollout);
  const conversation = conversationOf(rollout, policy);
  const failures: Error[] = [];
  const serving: Serving = {
    api: apiOf(rollout, policy, conversation),
    onFailure: (error) => {
      failures.push(error instanceof Error ? error : new Error(String(error)));
    },
  };
  const { question } = rollout.task;
  try {
    const ask = () => agentPool(policy, settings).ask(question, serving, rollout.signal);
    const { answer, reward } = readAnswer(await timed(rollout, trajectory, "modelMs", ask));
    if (failures[0] !== undefined) throw failures[0];
    if (conversation.calls.length === 0)
      throw new RolloutError("AGENT_FAILED", "agent: it answered without asking the policy at OPENAI_BASE_URL."); // prettier-ignore
    if (judge === "agent" && reward === null)
      throw new RolloutError("AGENT_FAILED", 'agent: its answer has no reward. Write {"answer": …, "reward": 1}, or set strategy.reward: recipe.'); // prettier-ignore
    takeTurns(rollout, trajectory, conversation, policy.tokenizer, reward);
    trajectory.answer = answer;
    return answer === null ? "no-answer" : "answered";
  } catch (error) {
    takeTurns(rollout, trajectory, conversation, policy.tokenizer, null);
    if (failures[0] !== undefined) throw failures[0];
    // What does not fit is the policy's fault, not the agent's.
    const isFull = error instanceof RolloutError && error.code === "AGENT_FAILED" && conversation.isFull; // prettier-ignore
    if (isFull && judge === "recipe") return "context-limit";
    throw error;
  } finally {
    conversation.end();
  }
}

/** @throws {ConfigError} STRATEGY_UNFIT for a policy behind a server. */
function tokensOf({ policy }: RolloutOptions): TokenPolicy {
  if (!("open" in policy)) return policy;
  const message = `strategy external: the policy is behind a server, which the agent can ask itself. Name a model of this machine by policy.from, or use another strategy.`;
  throw new ConfigError("STRATEGY_UNFIT", message);
}

function conversationOf(
  { id, seed, environment, progress }: RolloutOptions,
  policy: TokenPolicy,
): Conversation {
  const { limit: room = Infinity } =
    budgetOf(budgetsAt(environment.budgets, progress), "context") ?? {};
  const { template = plainTemplate } = policy.rendering ?? {};
  return openConversation({ id, seed, policy, template, room, keepsCache: true });
}

/** The recipe draws: what is learned from must come from its own distribution, and rollouts of a group must differ. */
function apiOf(
  { sampling, environment, progress }: RolloutOptions,
  policy: TokenPolicy,
  conversation: Conversation,
): Serving["api"] {
  const budgets = budgetsAt(environment.budgets, progress);
  const turnTokens = budgetOf(budgets, "turn")?.limit ?? DEFAULT_TURN_TOKENS;
  return {
    policy,
    model: "policy",
    conversationOf: () => conversation,
    limits: { defaultTokens: turnTokens, vocabSize: policy.tokenizer.vocabSize },
    drawAs: (draw) => {
      const maxTokens = Math.min(draw.maxTokens, turnTokens);
      return { ...draw, sampling, maxTokens, seed: null };
    },
  };
}

function readAnswer(line: string): { answer: string | null; reward: number | null } {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    value = null;
  }
  const found = checkOptions(reported, value);
  if (found.problem !== null) return { answer: line === "" ? null : line, reward: null };
  const { answer = null, reward = null } = found.value;
  return { answer: answer === "" ? null : answer, reward };
}

/** Every answer of the policy is a turn; what the agent sends next is its action's result. The agent's reward is that of the last turn. */
function takeTurns(
  { environment: { protocol } }: RolloutOptions,
  trajectory: Trajectory,
  { calls, texts }: Conversation,
  tokenizer: Tokenizer,
  reward: number | null,
): void {
  trajectory.calls = [...calls];
  trajectory.turns = texts.map((text, call) => {
    const { actions, problems } = protocol.parse(text);
    const [action, ...more] = actions;
    const next = calls.find(({ parent }) => parent === call);
    const isCall = action !== undefined && action.tool !== "answer" && more.length === 0;
    const shown = tokenizer.decode((next?.prompt ?? []).flatMap(({ ids }) => ids));
    const observations = isCall && next !== undefined ? [{ tool: action.tool, text: shown }] : [];
    const given = call === texts.length - 1 && reward !== null ? { reward } : {};
    return { call, text, actions, problems, observations, ...given };
  });
}
