import { seedFrom } from "../base/random.ts";
import { extractAnswer } from "../env/answer-rule.ts";
import type { Budget } from "../env/budget.ts";
import type { Observation, Trajectory } from "../trajectory/trajectory.ts";
import { firstEnd } from "./cut-tokens.ts";
import type { Dialogue, MessageEnding, Said } from "./dialogue.ts";
import { firstTokens, openDialogue, takesPrefix } from "./policy.ts";
import { record, type RolloutOptions, runTools, timed } from "./record.ts";
import { dialogueSetting, observationLimit } from "./roll-out.ts";
import type { Sampling } from "./sampling.ts";

/** How a question of a strategy's own is put. */
export interface AskOptions {
  /** Texts that end the message; they are not part of what comes back. None: it ends by its end token or its budget. */
  stop?: readonly string[];
  /** Tokens of the message at most, where that is less than the environment's budget for a turn. */
  maxTokens?: number;
  /** What is drawn otherwise than the run says. */
  sampling?: Partial<Sampling>;
  /** Tells draws from one another: equal prompts under equal keys are answered alike. */
  draw?: number | string;
  /** What the message is made to begin with; asked for in words where a server cannot. */
  prefix?: string;
}

/** What came back. */
export interface Answered {
  /** Without the prefix and without what stopped it. */
  text: string;
  /** Index of its turn. */
  turn: number;
  /** Index of its call: where its tokens and their log-probabilities stand. */
  call: number;
}

/**
 * A trajectory made of prompts that a strategy writes itself, each built anew: retrieval chains, trees, votes, modules. All that is
 * asked and searched is recorded, so that metrics, reports and rewards see it as they see an agent's.
 */
export interface Inquiry {
  readonly trajectory: Trajectory;
  /** Asks the policy. @returns null when the prompt does not fit its context. */
  ask(prompt: string, options?: AskOptions): Promise<Answered | null>;
  /**
   * Searches with the environment's own tool, on behalf of a message.
   * @param turn index of the turn whose message led to it; null: the strategy's own, before any message.
   * @returns what was found, `text` as short as the environment shows observations.
   */
  search(query: string, turn: number | null): Promise<Observation>;
  /** The answer that a text holds by the protocol's own rule; null when there is none. */
  answerIn(text: string): string | null;
}

/**
 * Runs a strategy that builds its own prompts.
 *
 * @param body what it does; returns the final answer, null when it has none.
 */
export function inquire(
  options: RolloutOptions,
  body: (inquiry: Inquiry) => Promise<string | null>,
): Promise<Trajectory> {
  return record(options, async (trajectory) => {
    trajectory.answer = await body(inquiry(options, trajectory));
    return trajectory.answer === null ? "no-answer" : "answered";
  });
}

function inquiry(options: RolloutOptions, trajectory: Trajectory): Inquiry {
  const { environment, policy, task, progress, signal } = options;
  let asked = 0;
  return {
    trajectory,
    async ask(prompt, how = {}) {
      const dialogue = open(options, trajectory, asked++, how);
      try {
        const write = () => dialogue.write(saidOf(options, prompt, how.prefix), signal);
        const message = await timed(options, trajectory, "modelMs", write);
        if (message === null) return null;
        const text = beforeStop(message.text, how.stop ?? []);
        const turn = trajectory.turns.length;
        const nothing = { actions: [], problems: [], observations: [] };
        trajectory.turns.push({ call: message.call, text, ...nothing });
        return { text, turn, call: message.call };
      } finally {
        dialogue.end();
      }
    },
    async search(query, turn) {
      const asker = { task, ...(progress === undefined ? {} : { progress }) };
      const search = () => environment.search(query, asker, signal);
      const found = await timed(options, trajectory, "searchMs", () => runTools(signal, search));
      const of = turn === null ? undefined : trajectory.turns[turn];
      if (of === undefined) (trajectory.given ??= []).push(found);
      else {
        of.actions.push({ tool: found.tool, input: query });
        of.observations.push(found);
      }
      return { ...found, text: firstTokens(policy, found.text, observationLimit(environment)) };
    },
    answerIn: (text) =>
      extractAnswer(environment.protocol.answer, { prompt: "", messages: [text] }),
  };
}

function open(
  options: RolloutOptions,
  trajectory: Trajectory,
  number: number,
  how: AskOptions,
): Dialogue {
  const { stop = [], draw = number, sampling, maxTokens } = how;
  const ending: MessageEnding = { stopStrings: stop, findCut: (text) => firstEnd(text, stop) };
  const setting = dialogueSetting(options, trajectory);
  return openDialogue(options.policy, {
    ...setting,
    ...{ id: `${options.id}#${number}`, seed: seedFrom(options.seed, draw), ending, tools: [] },
    sampling: { ...setting.sampling, ...sampling },
    budgets: maxTokens === undefined ? setting.budgets : shorterTurns(setting.budgets, maxTokens),
  });
}

function shorterTurns(budgets: readonly Budget[], maxTokens: number): Budget[] {
  const own = budgets.find(({ scope }) => scope === "turn")?.limit ?? Infinity;
  const limit = Math.min(own, maxTokens);
  const others = budgets.filter(({ scope }) => scope !== "turn");
  return [...others, { scope: "turn", unit: "tokens", limit, onExhausted: "cut" }];
}

function saidOf({ policy }: RolloutOptions, prompt: string, prefix = ""): Said[] {
  if (prefix === "") return [{ owner: "template", text: prompt }];
  if (takesPrefix(policy)) {
    return [
      { owner: "template", text: prompt },
      { owner: "inserted", text: prefix },
    ];
  }
  return [{ owner: "template", text: `${prompt}\nBegin with: ${prefix}` }];
}

function beforeStop(text: string, stop: readonly string[]): string {
  const end = firstEnd(text, stop);
  if (end === null) return text;
  const closing = stop.find((each) => text.slice(0, end).endsWith(each)) ?? "";
  return text.slice(0, end - closing.length);
}
