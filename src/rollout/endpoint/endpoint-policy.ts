import type { EndpointSettings } from "../model-settings.ts";
import { seedFrom } from "../../base/random.ts";
import { commandCaller } from "../../http/caller.ts";
import type { ChatMessage, DrawRequest, ToolCall } from "../../http/chat-messages.ts";
import { type ChatClient, chatClient } from "../../http/chat.ts";
import {
  type CompletionReply,
  type CompletionsClient,
  completionsClient,
} from "../../http/completions.ts";
import type { HttpEnvironment } from "../../http/endpoint.ts";
import type { Meter } from "../../http/meter.ts";
import type { CallFinish } from "../../trajectory/trajectory.ts";
import type { Dialogue, DialogueSetting, Input } from "../dialogue.ts";
import { type TextDraft, emptyTextDraft, splitPrefill } from "../draft.ts";
import { CHARACTERS_PER_TOKEN, type TextPolicy } from "../policy.ts";
import {
  type RemotePlace,
  askServer,
  contextFull,
  drawRequest,
  recordGiven,
  recordMessage,
  recordReply,
  replyLimit,
  shownText,
  takeReply,
} from "./remote-message.ts";

const CALLER = commandCaller("policy", "policy.endpoint");

/** A policy behind an OpenAI-compatible server, which keeps its tokens: recorded as text. @throws {ConfigError} HTTP_KEY_MISSING */
export function endpointPolicy(
  settings: EndpointSettings,
  environment?: HttpEnvironment,
): { policy: TextPolicy; meter: Meter } {
  if (settings.api === "completions") {
    const client = completionsClient(CALLER, settings, environment);
    const open: TextPolicy["open"] = (setting) => textDialogue(client, settings, setting);
    return { policy: { role: "policy", takesPrefill: true, open }, meter: client.meter };
  }
  const client = chatClient(CALLER, settings, environment);
  const open: TextPolicy["open"] = (setting) => chatDialogue(client, settings, setting);
  return { policy: { role: "policy", takesPrefill: false, open }, meter: client.meter };
}

interface ChatPlace extends RemotePlace {
  messages: number;
  history: ChatMessage[];
  pending: readonly ToolCall[];
}

/** A dialogue with a chat server: prompt and replies are user messages, or tool messages for native tool calls. */
function chatDialogue(
  client: ChatClient,
  settings: EndpointSettings,
  setting: DialogueSetting,
  from?: ChatPlace,
): Dialogue {
  const { system } = settings;
  const place: ChatPlace = {
    last: null,
    messages: 0,
    tokens: 0,
    pending: [],
    ...from,
    history: [
      ...(from?.history ??
        (system === undefined ? [] : [{ role: "system" as const, content: system }])),
    ],
  };
  const { protocol, tools } = setting;
  const native = protocol.writeCalls !== undefined && tools.length > 0;
  return {
    async write(inputs, signal) {
      signal.throwIfAborted();
      if (contextFull(setting, place)) return null;
      const { pending, history } = place;
      history.push(...inputs.flatMap((each) => messagesOf(each, pending)));
      const reply = await askServer(() =>
        client.complete({
          messages: history,
          tools: native ? tools : undefined,
          ...drawRequest(setting, settings, place),
          signal,
        }),
      );
      if (reply === null) return null;
      const { toolCalls } = reply;
      const calls = toolCalls.length > 0 ? (protocol.writeCalls?.(toolCalls) ?? "") : "";
      const text = [reply.text, calls].filter((each) => each !== "").join("\n");
      const message = recordReply(setting, place, { ...reply, text }, inputs);
      place.pending = toolCalls;
      history.push(
        toolCalls.length === 0
          ? { role: "assistant", content: message.text }
          : { role: "assistant", content: reply.text || null, tool_calls: toolCalls },
      );
      return message;
    },
    give(inputs, message) {
      place.history.push(...inputs.flatMap((each) => messagesOf(each, place.pending)));
      place.history.push({ role: "assistant", content: message.text });
      place.pending = [];
      place.messages += 1;
      return recordGiven(setting, place, inputs, message);
    },
    fork: (branch) => chatDialogue(client, settings, { ...setting, ...branch }, place),
    end: () => undefined,
  };
}

function messagesOf(input: Input, pending: readonly ToolCall[]): ChatMessage[] {
  const { maxTokens, observations = [], withheld = [] } = input;
  // A call that a hint interrupts must be answered as well.
  if (input.owner === "template" || pending.length === 0)
    return [{ role: "user", content: shownText(input) }];
  // Calls in the text come before those of the server's own field: the first result includes theirs.
  const written = Math.max(0, observations.length - pending.length);
  return pending.map(({ id, name }, i): ChatMessage => {
    const found = observations.slice(i === 0 ? 0 : i + written, i + written + 1);
    const text = found.length === 0 ? input.text : found.map((each) => each.text).join("\n");
    const limit = maxTokens === undefined ? {} : { maxTokens };
    const last = i === pending.length - 1 ? { withheld } : {};
    return {
      role: "tool",
      tool_call_id: id,
      name,
      content: shownText({ text, ...limit, ...last }),
    };
  });
}

interface TextPlace extends RemotePlace {
  text: string;
}

/** A dialogue with a completions server: one growing text, as in training. */
function textDialogue(
  client: CompletionsClient,
  settings: EndpointSettings,
  setting: DialogueSetting,
  from: TextPlace = { last: null, messages: 0, tokens: 0, text: "" },
): Dialogue {
  const place = { ...from };
  return {
    async write(inputs, signal, interject = () => null) {
      signal.throwIfAborted();
      if (contextFull(setting, place)) return null;
      const { read, prefill } = splitPrefill(inputs);
      const prompt = place.text + read.map(shownText).join("");
      const draft = emptyTextDraft(setting.ending, prefill);
      const replies: CompletionReply[] = [];
      let finish: CallFinish = "stop";
      while (!draft.isWhole()) {
        const request = partRequest(setting, settings, place, { draft, part: replies.length });
        const asked = { prompt: prompt + draft.whole(), ...request, signal };
        const reply = await askServer(() => client.complete(asked));
        if (reply === null) {
          if (replies.length === 0) return null;
          // No room to continue: the message stays unchanged.
          draft.undo();
          break;
        }
        finish = takeReply(setting, draft, reply);
        replies.push(reply);
        const put = interject(draft.text(), draft.put());
        if (put === null || !draft.interrupt(put)) break;
        if (draft.isWhole()) finish = "stop";
        else if (tokensLeft(setting, settings, draft) < 1) {
          draft.undo();
          break;
        }
        signal.throwIfAborted();
      }
      const message = recordMessage(setting, place, { draft, finish, replies, inputs: read });
      place.text = prompt + draft.whole();
      return message;
    },
    give(inputs, message) {
      place.text += inputs.map(shownText).join("") + message.text;
      place.messages += 1;
      return recordGiven(setting, place, inputs, message);
    },
    fork: (branch) => textDialogue(client, settings, { ...setting, ...branch }, place),
    end: () => undefined,
  };
}

/** The request for a message or, after an interruption, its continuation: with its own seed and the remaining tokens. */
function partRequest(
  setting: DialogueSetting,
  settings: EndpointSettings,
  place: TextPlace,
  { draft, part }: { draft: TextDraft; part: number },
): DrawRequest {
  const request = drawRequest(setting, settings, place);
  if (part === 0) return request;
  const seed = seedFrom(setting.seed, place.messages, part);
  return { ...request, seed, maxTokens: tokensLeft(setting, settings, draft) };
}

/** Remaining tokens of a message's budget; used tokens are estimated from its length. */
function tokensLeft(
  { budgets }: DialogueSetting,
  settings: EndpointSettings,
  draft: TextDraft,
): number {
  return replyLimit(budgets, settings) - Math.ceil(draft.text().length / CHARACTERS_PER_TOKEN);
}
