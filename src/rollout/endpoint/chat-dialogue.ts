import { seedFrom } from "../../base/random.ts";
import type { ChatClient, ChatMessage, ToolCall } from "../../http/chat.ts";
import type { Dialogue, DialogueSetting, Said } from "../dialogue.ts";
import type { EndpointSettings } from "./endpoint-policy.ts";
import {
  askServer,
  contextFull,
  messageTokens,
  recordReply,
  type RemotePlace,
  shownText,
} from "./remote-message.ts";

/** Where a chat stands. */
interface ChatPlace extends RemotePlace {
  messages: number;
  /** As the server is shown them. */
  history: ChatMessage[];
  /** Calls of the last message that wait for their results. */
  pending: readonly ToolCall[];
}

/**
 * A dialogue with a chat server: the prompt and the environment's replies are the user's messages, or, where the protocol leaves
 * calls of tools to the server, the results of tools.
 */
export function chatDialogue(
  client: ChatClient,
  settings: EndpointSettings,
  setting: DialogueSetting,
  from?: ChatPlace,
): Dialogue {
  const { system } = settings;
  const place: ChatPlace = {
    ...{ last: null, messages: 0, tokens: 0, pending: [] },
    ...from,
    history: [
      ...(from?.history ??
        (system === undefined ? [] : [{ role: "system" as const, content: system }])),
    ],
  };
  const { protocol, tools, ending, sampling } = setting;
  const native = protocol.writeCalls !== undefined && tools.length > 0;
  return {
    async write(said, signal) {
      signal.throwIfAborted();
      if (contextFull(setting, place)) return null;
      const { pending, history } = place;
      history.push(...said.flatMap((each) => messagesOf(each, pending)));
      const reply = await askServer(() =>
        client.complete({
          messages: history,
          ...{ temperature: sampling.temperature, topP: sampling.topP, signal },
          maxTokens: messageTokens(setting),
          ...(ending.stopStrings.length === 0 ? {} : { stop: ending.stopStrings }),
          ...(native ? { tools } : {}),
          seed: seedFrom(setting.seed, place.messages),
          extra: { ...(sampling.topK > 0 ? { top_k: sampling.topK } : {}), ...settings.extra },
        }),
      );
      if (reply === null) return null;
      const { toolCalls } = reply;
      const calls = toolCalls.length > 0 ? (protocol.writeCalls?.(toolCalls) ?? "") : "";
      const text = [reply.text, calls].filter((each) => each !== "").join("\n");
      const message = recordReply(setting, place, { ...reply, text }, said);
      place.pending = toolCalls;
      history.push(
        toolCalls.length === 0
          ? { role: "assistant", content: message.text }
          : {
              role: "assistant",
              content: reply.text || null,
              tool_calls: toolCalls.map(repeatable),
            },
      );
      return message;
    },
    fork: ({ id, seed }) => chatDialogue(client, settings, { ...setting, id, seed }, place),
    end: () => undefined,
  };
}

/** A call as a server takes it back: many parse the arguments and refuse the whole request where they are no object. */
function repeatable(call: ToolCall): ToolCall {
  return { ...call, arguments: isObject(call.arguments) ? call.arguments : "{}" };
}

function isObject(json: string): boolean {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

function messagesOf(said: Said, pending: readonly ToolCall[]): ChatMessage[] {
  const { maxTokens, observations = [] } = said;
  if (said.owner !== "environment" || pending.length === 0) {
    return [{ role: "user", content: shownText(said) }];
  }
  // Calls that were written in the text stand before those of the server's own field: the first result tells theirs too.
  const written = Math.max(0, observations.length - pending.length);
  return pending.map(({ id, name }, i): ChatMessage => {
    const found = observations.slice(i === 0 ? 0 : i + written, i + written + 1);
    const text = found.length === 0 ? said.text : found.map((each) => each.text).join("\n");
    const limit = maxTokens === undefined ? {} : { maxTokens };
    return { role: "tool", tool_call_id: id, name, content: shownText({ text, ...limit }) };
  });
}
