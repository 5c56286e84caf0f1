import { budgetOf } from "../env/budget.ts";
import type { ChatMessage, ToolSchema } from "../http/chat-messages.ts";
import type { Tokenizer } from "../text/tokenizer.ts";
import type { CallFinish } from "../trajectory/trajectory.ts";
import { type Dialogue, type DialogueSetting, type Input, sentStops } from "./dialogue.ts";
import { emptyTextDraft } from "./draft.ts";
import {
  closingStop,
  contextFull,
  recordGiven,
  recordMessage,
  type RemotePlace,
} from "./endpoint/remote-message.ts";
import { beginningOf, CHARACTERS_PER_TOKEN, type TextPolicy } from "./policy.ts";
import { DEFAULT_TURN_TOKENS } from "./token-dialogue.ts";

/** What the writer of a message needs to know. */
export interface AwaitedTurn {
  /** The conversation so far; the last message is the one to answer. */
  conversation: readonly ChatMessage[];
  /** Whether the conversation is new to the writer: the first of an episode, or one that its strategy begins. */
  opens: boolean;
  stop: readonly string[];
  maxTokens: number;
  /** Tools that the prompt does not describe, because a chat template does. */
  tools: readonly ToolSchema[];
}

interface Place extends RemotePlace {
  conversation: readonly ChatMessage[];
  isNew: boolean;
}

/** A policy whose messages another program writes, recorded as a server's. @param tokenizer for budgets; null: four characters a token. */
export function awaitedText(
  write: (turn: AwaitedTurn, signal: AbortSignal) => Promise<string>,
  tokenizer: Tokenizer | null,
): TextPolicy {
  const measure = tokenizer === null ? estimated : measuredBy(tokenizer);
  const start = { last: null, messages: 0, tokens: 0, conversation: [], isNew: true };
  return {
    role: "policy",
    takesPrefill: false,
    firstTokens: measure.first,
    open: (setting) =>
      awaitedDialogue({ write, measure, isExact: tokenizer !== null }, setting, start),
  };
}

interface Writer {
  write: (turn: AwaitedTurn, signal: AbortSignal) => Promise<string>;
  measure: Measure;
  isExact: boolean;
}

function awaitedDialogue(writer: Writer, setting: DialogueSetting, from: Place): Dialogue {
  const { measure, isExact } = writer;
  const place = { ...from };
  const cut = (input: Input): Input => {
    const { maxTokens = Infinity, ...rest } = input;
    return { ...rest, text: measure.first(input.text, maxTokens) };
  };
  const said = (role: "user" | "assistant", content: string): void => {
    place.conversation = [...place.conversation, { role, content }];
  };
  const shownTo = (inputs: readonly Input[]): void => {
    said("user", inputs.map(({ text, withheld = [] }) => text + withheld.join("")).join(""));
  };
  return {
    async write(inputs, signal) {
      signal.throwIfAborted();
      if (contextFull(setting, place)) return null;
      const { ending, protocol, budgets, tools } = setting;
      const shown = inputs.map(cut);
      shownTo(shown);
      const maxTokens = budgetOf(budgets, "turn")?.limit ?? DEFAULT_TURN_TOKENS;
      const { conversation, isNew: opens } = place;
      const promptTokens = conversation.reduce(
        (sum, { content }) => sum + measure.count(content ?? ""),
        0,
      );
      const offered = protocol.writeCalls === undefined ? [] : tools;
      const turn = { conversation, opens, stop: sentStops(ending), maxTokens, tools: offered };
      const whole = await writer.write(turn, signal);
      const text = isExact ? measure.first(whole, maxTokens) : whole;
      const isShort = text.length < whole.length;
      const draft = emptyTextDraft(ending);
      const stop = isShort ? "" : closingStop(text, protocol, ending);
      const isStopped = draft.write(text + stop).length < text.length || stop !== "";
      const finish: CallFinish = isStopped ? "stop" : isShort ? "length" : "eos";
      const usage = { promptTokens, completionTokens: measure.count(draft.text()) };
      const reply = { text, finishReason: null, usage, firstTokenMs: null };
      const message = recordMessage(setting, place, {
        draft,
        finish,
        replies: [reply],
        inputs: shown,
      });
      said("assistant", message.text);
      place.isNew = false;
      return message;
    },
    give(inputs, message) {
      const shown = inputs.map(cut);
      shownTo(shown);
      said("assistant", message.text);
      place.messages += 1;
      place.last = recordGiven(setting, place, shown, message);
      return place.last;
    },
    fork: (branch) => awaitedDialogue(writer, { ...setting, ...branch }, { ...place, isNew: true }),
    end: () => undefined,
  };
}

interface Measure {
  count: (text: string) => number;
  first: (text: string, maxTokens: number) => string;
}

const estimated: Measure = {
  count: (text) => Math.ceil(text.length / CHARACTERS_PER_TOKEN),
  first: beginningOf,
};

function measuredBy(tokenizer: Tokenizer): Measure {
  return {
    count: (text) => tokenizer.encode(text).length,
    first(text, maxTokens) {
      const ids = tokenizer.encode(text);
      return ids.length <= maxTokens ? text : tokenizer.decode(ids.slice(0, maxTokens));
    },
  };
}
