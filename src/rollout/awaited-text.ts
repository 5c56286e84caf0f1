import { budgetOf } from "../env/budget.ts";
import type { ChatMessage, ToolSchema } from "../http/chat-messages.ts";
import type { Tokenizer } from "../text/tokenizer.ts";
import type { CallFinish } from "../trajectory/trajectory.ts";
import { type Dialogue, type DialogueSetting, type Input, sentStops } from "./dialogue.ts";
import { emptyTextDraft, splitPrefill, type TextDraft } from "./draft.ts";
import {
  closingStop,
  contextFull,
  recordGiven,
  recordMessage,
  type RemotePlace,
  type RemoteReply,
} from "./endpoint/remote-message.ts";
import { beginningOf, CHARACTERS_PER_TOKEN, type TextPolicy } from "./policy.ts";
import { DEFAULT_TURN_TOKENS } from "./token-dialogue.ts";

/** What the writer of a message needs to know. */
export interface AwaitedTurn {
  /** The conversation so far; the last message is the one to answer. */
  conversation: readonly ChatMessage[];
  /** Whether the conversation is new to the writer: the first of an episode, or one that its strategy begins. */
  opens: boolean;
  /** The message so far, which the writer continues; "" unless it takes prefills. */
  prefill: string;
  stop: readonly string[];
  /** Whether a message, with its prefill, has reached its end. */
  isWhole: (message: string) => boolean;
  maxTokens: number;
  /** Tools that the prompt does not describe, because a chat template does. */
  tools: readonly ToolSchema[];
}

interface Place extends RemotePlace {
  conversation: readonly ChatMessage[];
  isNew: boolean;
}

type Write = (turn: AwaitedTurn, signal: AbortSignal) => Promise<string>;

/**
 * A policy whose messages another program, or a person, writes; recorded as a server's.
 * @param tokenizer for budgets; null: four characters a token.
 * @param options.takesPrefill whether the writer continues prefills and inserted hints; else it gets them as instructions.
 */
export function awaitedText(
  write: Write,
  tokenizer: Tokenizer | null,
  { takesPrefill = false }: { takesPrefill?: boolean } = {},
): TextPolicy {
  const measure = tokenizer === null ? estimated : measuredBy(tokenizer);
  const writer = { write, measure, isExact: tokenizer !== null, takesPrefill };
  const start = { last: null, messages: 0, tokens: 0, conversation: [], isNew: true };
  return {
    role: "policy",
    takesPrefill,
    firstTokens: measure.first,
    open: (setting) => awaitedDialogue(writer, setting, start),
  };
}

interface Writer {
  write: Write;
  takesPrefill: boolean;
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
    async write(inputs, signal, interject = () => null) {
      signal.throwIfAborted();
      if (contextFull(setting, place)) return null;
      const { ending, protocol, budgets, tools } = setting;
      const { read, prefill } = writer.takesPrefill
        ? splitPrefill(inputs)
        : { read: inputs, prefill: [] };
      const shown = read.map(cut);
      shownTo(shown);
      const { conversation, isNew: opens } = place;
      const promptTokens = conversation.reduce(
        (sum, { content }) => sum + measure.count(content ?? ""),
        0,
      );
      const limit = budgetOf(budgets, "turn")?.limit ?? DEFAULT_TURN_TOKENS;
      const isWhole = (message: string): boolean => ending.findCut(message) !== null;
      const offered = protocol.writeCalls === undefined ? [] : tools;
      const asked = { conversation, opens, stop: sentStops(ending), isWhole, tools: offered };
      const draft = emptyTextDraft(ending, prefill);
      const replies: RemoteReply[] = [];
      let finish: CallFinish = "stop";
      while (!draft.isWhole()) {
        const maxTokens = Math.max(1, limit - measure.count(draft.text()));
        const turn = { ...asked, prefill: draft.whole(), maxTokens };
        const text = await writer.write(turn, signal);
        finish = addText(draft, isExact ? measure.first(text, maxTokens) : text, text, setting);
        const usage = { promptTokens, completionTokens: measure.count(draft.text()) };
        replies.splice(0, 1, { text, finishReason: null, usage, firstTokenMs: null });
        const put = writer.takesPrefill ? interject(draft.text(), draft.put()) : null;
        if (put === null || !draft.interrupt(put)) break;
        if (draft.isWhole()) finish = "stop";
      }
      const message = recordMessage(setting, place, { draft, finish, replies, inputs: shown });
      said("assistant", draft.whole());
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

/** Adds a written text to a message, up to its end. @param text the part of it within the budget. @returns how the message ended. */
function addText(
  draft: TextDraft,
  text: string,
  whole: string,
  { protocol, ending }: DialogueSetting,
): CallFinish {
  const isShort = text.length < whole.length;
  const stop = isShort ? "" : closingStop(draft.whole() + text, protocol, ending);
  const isStopped = draft.write(text + stop).length < text.length || stop !== "";
  return isStopped ? "stop" : isShort ? "length" : "eos";
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
