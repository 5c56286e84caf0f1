import type { ChatMessage, ChatRequest, ChatSettings } from "./chat.ts";

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
  return {
    ...message,
    tool_calls: calls.map(({ id, ...call }) => ({ id, type: "function", function: call })),
  };
}
