import type { ChatSettings } from "./chat-settings.ts";
import type { ChatMessage, ChatRequest, ToolCall } from "./chat-messages.ts";

/** The body of a chat request, as it goes over the wire; keys that are undefined stay out of its JSON. */
export function chatBody(
  { model, tokenLimit }: Pick<ChatSettings, "model" | "tokenLimit">,
  request: ChatRequest,
  stream: boolean,
): Record<string, unknown> {
  const { messages, tools, toolChoice, maxTokens, extra } = request;
  return {
    model,
    messages: messages.map(wireMessage),
    tools,
    tool_choice:
      typeof toolChoice === "object" ? { type: "function", function: toolChoice } : toolChoice,
    temperature: request.temperature,
    top_p: request.topP,
    [tokenLimit]: maxTokens,
    stop: request.stop,
    seed: request.seed,
    logprobs: request.logprobs,
    stream,
    stream_options: stream ? { include_usage: true } : undefined,
    ...extra,
  };
}

function wireMessage(message: ChatMessage): object {
  const { tool_calls: calls } = message;
  if (calls === undefined) return message;
  return { ...message, tool_calls: calls.map(wireCall) };
}

/**
 * Arguments that are no JSON object are sent back inside of one: llama.cpp and vLLM parse those of earlier messages for their
 * templates, and would refuse the whole conversation for what a model once got wrong.
 */
function wireCall({ id, name, arguments: text }: ToolCall): object {
  const sent = isJsonObject(text) ? text : JSON.stringify({ malformed: text });
  return { id, type: "function", function: { name, arguments: sent } };
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
