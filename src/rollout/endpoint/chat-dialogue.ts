import type { ChatClient } from "../../http/chat.ts";
import type { ChatMessage, ToolCall } from "../../http/chat-messages.ts";
import type { Dialogue, DialogueSetting, Input } from "../dialogue.ts";
import type { EndpointSettings } from "./endpoint-settings.ts";
import {
  askServer,
  contextFull,
  drawRequest,
  recordGiven,
  recordReply,
  type RemotePlace,
  shownText,
} from "./remote-message.ts";

/** State of a chat. */
interface ChatPlace extends RemotePlace {
  messages: number;
  /** Messages as sent to the server. */
  history: ChatMessage[];
  /** Calls of the last message without results yet. */
  pending: readonly ToolCall[];
}

/**
 * A dialogue with a chat server: the prompt and the environment's replies are user messages, or tool messages if the protocol leaves tool
 * calls to the server.
 */
export function chatDialogue(
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
  if (input.owner === "template" || pending.length === 0) {
    return [{ role: "user", content: shownText(input) }];
  }
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
