import { ConfigError } from "../base/errors.ts";
import { seedFrom } from "../base/random.ts";
import type { BudgetNow } from "../env/budget.ts";
import { requireSearching } from "../env/environments/environment.ts";
import { answerIn, firstEnd } from "../env/protocols/protocol.ts";
import type { Asked } from "../env/teacher.ts";
import type { Observation, Trajectory } from "../trajectory/trajectory.ts";
import type { Input, Message, MessageEnding } from "./dialogue.ts";
import { withAnswerEnd } from "./forced-answer.ts";
import { type Policy, type TokenPolicy, takesPrefill } from "./policy.ts";
import {
  type RolloutOptions,
  appendBranch,
  emptyTrajectory,
  record,
  runTools,
  timed,
} from "./record.ts";
import { dialogueSetting, shownPart } from "./roll-out.ts";
import type { Sampling } from "./sampling.ts";
import { openDialogue } from "./token-dialogue.ts";

/** How a question of a strategy's own is put. */
export interface AskOptions {
  /** Texts that end the message; they are not part of what comes back. None: it ends by its end token or its budget. */
  stop?: readonly string[];
  /** Tokens of the message at most, where that is less than the environment's budget for a turn. */
  maxTokens?: number;
  sampling?: Partial<Sampling>;
  draw?: number | string;
  /** Prefill of the message; a server that cannot prefill gets it as an instruction. */
  prefill?: string;
  /** Line of the trajectory that the message is put under, in reports; the session's own when absent. */
  chain?: string;
  asked?: Asked;
}

/** What came back. */
export interface Answered {
  /** Without the prefill and without what stopped it. */
  text: string;
  turn: number;
  call: number;
}

/** A trajectory made of prompts that a strategy writes anew: retrieval chains, trees, votes, modules; recorded as an agent's. */
export interface PromptSession {
  readonly trajectory: Trajectory;
  /** Asks the policy. @returns null when the prompt does not fit its context. */
  ask(prompt: string, options?: AskOptions): Promise<Answered | null>;
  /** Asks for an answer by the protocol's grammar, its opening as the prefill; null when it gave none, or the prompt does not fit. */
  answer(prompt: string, options?: Omit<AskOptions, "stop" | "prefill">): Promise<string | null>;
  /** Searches with the environment's tool for a turn's message; null: the strategy's own. @returns `text` as short as shown. */
  search(query: string, turn: number | null): Promise<Observation>;
  /**
   * Mean log-probability (nats a token, temperature 1) of a text as the reply to a prompt, recorded; null when they do not fit.
   * @throws {ConfigError} STRATEGY_NEEDS_LOGPROBS
   */
  likelihood(prompt: string, text: string): Promise<number | null>;
  answerIn(text: string): string | null;
  /** Several sessions at once, each under its own name and seed, recorded one after another. A branch's indices are valid in it only. */
  branches<T>(
    names: readonly string[],
    body: (branch: PromptSession, index: number) => Promise<T>,
  ): Promise<T[]>;
  readonly isFull: boolean;
}

/** Runs a strategy that builds its own prompts. @param body returns the final answer; null when it has none. */
export function withPrompts(
  options: RolloutOptions,
  body: (session: PromptSession) => Promise<string | null>,
): Promise<Trajectory> {
  return record(options, async (trajectory) => {
    const session = promptSession(options, trajectory);
    trajectory.answer = await body(session);
    if (trajectory.answer !== null) return "answered";
    return session.isFull ? "context-limit" : "no-answer";
  });
}

/** A session on a trajectory in progress, for strategies that ask beside the agent's loop. */
export function promptSession(
  options: RolloutOptions,
  trajectory: Trajectory,
  full = { yes: false },
): PromptSession {
  const { environment, policy, task, progress, signal } = options;
  const { protocol } = environment;
  let asked = 0;
  const put = async (
    inputs: Input[],
    how: AskOptions,
    ending: MessageEnding,
  ): Promise<Message | null> => {
    const dialogue = open({ options, trajectory, number: asked++, how, ending });
    try {
      const write = () => dialogue.write(inputs, signal);
      const message = await timed(options, trajectory, "modelMs", write);
      full.yes ||= message === null;
      return message;
    } finally {
      dialogue.end();
    }
  };
  const mark = ({ chain }: AskOptions) => (chain === undefined ? {} : { chain });
  return {
    trajectory,
    get isFull() {
      return full.yes;
    },
    async ask(prompt, how = {}) {
      const { stop = [], prefill = "" } = how;
      const begun = takesPrefill(policy) ? prefill.length : 0;
      const findCut = (text: string): number | null => {
        const end = firstEnd(text.slice(begun), stop);
        return end === null ? null : begun + end;
      };
      const ending = { stopStrings: stop, findCut };
      const message = await put(promptInputs(policy, prompt, prefill), how, ending);
      if (message === null) return null;
      const text = beforeStop(withoutPrefill(policy, message.text, prefill), stop);
      const turn = trajectory.turns.length;
      const nothing = { actions: [], problems: [], observations: [] };
      const whole = (takesPrefill(policy) ? prefill : "") + text;
      trajectory.turns.push({ call: message.call, text: whole, ...nothing, ...mark(how) });
      return { text, turn, call: message.call };
    },
    async answer(prompt, how = {}) {
      const prefill = takesPrefill(policy) ? protocol.answerOpening : "";
      const request = prefill === "" ? protocol.answerRequest : "";
      const message = await put(promptInputs(policy, prompt + request, prefill), how, protocol);
      if (message === null) return null;
      const { call } = message;
      const text = withAnswerEnd(prefill + message.text, {
        prefill,
        protocol,
        call: trajectory.calls[call],
      });
      const { actions, problems } = protocol.parse(text);
      trajectory.turns.push({ call, text, actions, problems, observations: [], ...mark(how) });
      return this.answerIn(text);
    },
    async search(query, turn) {
      const searchContext = { task, progress };
      const search = () => requireSearching(environment).search(query, searchContext, signal);
      const found = await timed(options, trajectory, "searchMs", () => runTools(signal, search));
      const of = turn === null ? trajectory.turns.at(-1) : trajectory.turns[turn];
      if (of === undefined) (trajectory.given ??= []).push(found);
      else {
        of.actions.push({ tool: found.tool, input: query });
        of.observations.push(found);
        if (found.problem !== undefined) of.problems.push(found.problem);
      }
      return { ...found, text: shownPart(options, found) };
    },
    async likelihood(prompt, text) {
      const scored = await timed(options, trajectory, "modelMs", () =>
        meanLogprob(requireLogprobs(policy), trajectory, { prompt, text, signal }),
      );
      full.yes ||= scored === null;
      return scored;
    },
    answerIn: (text) => answerIn(protocol, { prompt: "", messages: [text] }),
    async branches(names, body) {
      const parts = names.map((name) => {
        const own = { id: `${options.id}/${name}`, seed: seedFrom(options.seed, "branch", name) };
        return { name, options: { ...options, ...own }, trajectory: emptyTrajectory(options) };
      });
      const results = await Promise.allSettled(
        parts.map((part, i) => body(promptSession(part.options, part.trajectory, full), i)),
      );
      for (const part of parts) appendBranch(trajectory, part.trajectory, part.name);
      return results.map((result) => {
        if (result.status === "rejected") throw result.reason;
        return result.value;
      });
    },
  };
}

interface Opening {
  options: RolloutOptions;
  trajectory: Trajectory;
  number: number;
  how: AskOptions;
  ending: MessageEnding;
}

function open({ options, trajectory, number, how, ending }: Opening) {
  const { draw = number, sampling, maxTokens, asked } = how;
  const setting = dialogueSetting(options, trajectory);
  return openDialogue(options.policy, {
    ...setting,
    id: `${options.id}#${number}`,
    seed: seedFrom(options.seed, draw),
    ending,
    tools: [],
    sampling: { ...setting.sampling, ...sampling },
    ...(asked === undefined ? {} : { asked }),
    budgets: maxTokens === undefined ? setting.budgets : shorterTurns(setting.budgets, maxTokens),
  });
}

function shorterTurns(budgets: readonly BudgetNow[], maxTokens: number): BudgetNow[] {
  const own = budgets.find(({ scope }) => scope === "turn")?.limit ?? Infinity;
  const limit = Math.min(own, maxTokens);
  const others = budgets.filter(({ scope }) => scope !== "turn");
  return [...others, { scope: "turn", unit: "tokens", limit, onExhausted: "cut" }];
}

function promptInputs(policy: Policy, prompt: string, prefill: string): Input[] {
  if (prefill === "") return [{ owner: "template", text: prompt }];
  if (takesPrefill(policy))
    return [
      { owner: "template", text: prompt },
      { owner: "inserted", text: prefill },
    ];
  return [{ owner: "template", text: `${prompt}\nBegin with: ${prefill}` }];
}

/** A server that was asked to begin with a text writes it itself. */
function withoutPrefill(policy: Policy, text: string, prefill: string): string {
  return !takesPrefill(policy) && text.startsWith(prefill) ? text.slice(prefill.length) : text;
}

function beforeStop(text: string, stop: readonly string[]): string {
  const end = firstEnd(text, stop);
  if (end === null) return text;
  const closing = stop.find((each) => text.slice(0, end).endsWith(each)) ?? "";
  return text.slice(0, end - closing.length);
}

/** The policy, if it can score texts. @param key recipe key of the part that needs it. @throws {ConfigError} STRATEGY_NEEDS_LOGPROBS */
export function requireLogprobs(
  policy: Policy,
  instead = "Use another strategy.",
  key = "evaluation.strategy",
): ScoringPolicy {
  if (!("open" in policy) && policy.logprobs !== undefined) return policy as ScoringPolicy;
  const message = `${key}: the policy "${policy.role}" cannot give log-probabilities of a given text, which this setting needs; local models can. ${instead}`;
  throw new ConfigError("STRATEGY_NEEDS_LOGPROBS", message);
}

/** A policy that can score a text. */
export type ScoringPolicy = TokenPolicy & Required<Pick<TokenPolicy, "logprobs">>;

type ScoredText = { prompt: string; text: string; signal: AbortSignal };

/** As `textLogprob`, by token (nats a token). */
async function meanLogprob(
  policy: ScoringPolicy,
  trajectory: Trajectory,
  asked: ScoredText,
): Promise<number | null> {
  const whole = await textLogprob(policy, trajectory, asked);
  return whole === null ? null : whole / policy.tokenizer.encode(asked.text).length;
}

/** Log-probability (nats) of a text after a prompt, recorded as a call without a completion; null when they do not fit the context. */
export async function textLogprob(
  policy: ScoringPolicy,
  trajectory: Trajectory,
  { prompt, text, signal }: ScoredText,
): Promise<number | null> {
  signal.throwIfAborted();
  const { tokenizer, rendering, maxPositions, role, version } = policy;
  const promptIds = tokenizer.encodeStart(rendering?.opening(prompt) ?? prompt);
  const ids = tokenizer.encode(text);
  if (promptIds.length + ids.length > maxPositions) return null;
  const logprobs = await policy.logprobs(promptIds, ids);
  const segment = { logprobs: null };
  trajectory.calls.push({
    parent: null,
    role,
    policyVersion: version,
    prompt: [
      { owner: "template", ids: promptIds, ...segment },
      { owner: "inserted", ids, ...segment },
    ],
    completion: [],
    finish: "stop",
  });
  return logprobs.reduce((sum, each) => sum + each, 0);
}
