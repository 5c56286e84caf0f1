import { z } from "../base/schema.ts";
import type { ChatMessage, ChatRequest, ToolCall, ChatReply, TokenUsage } from "./chat-messages.ts";
import type { ChatSettings } from "./chat-settings.ts";

/** The JSON body of a chat request; JSON.stringify drops undefined keys. */
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
 * Arguments that are not a JSON object are sent wrapped in one: llama.cpp and vLLM parse the arguments of earlier messages for their
 * templates, and would reject the whole conversation for a model's earlier mistake.
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

/** Token counts from the server. */
export const usageSchema = z.object({ prompt_tokens: z.number(), completion_tokens: z.number() });

/** A call's arguments: JSON as text; some servers send the JSON value itself. */
export const argumentsText = z
  .unknown()
  .transform((value) =>
    value === undefined || value === null || typeof value === "string"
      ? (value ?? "")
      : JSON.stringify(value),
  );

/** Content is text; Mistral's reasoning models send parts, of which only text parts count. */
export const contentText = z
  .union([z.string(), z.array(z.object({ text: z.string().optional() }))])
  .nullish()
  .transform((content) =>
    Array.isArray(content) ? content.map(({ text }) => text ?? "").join("") : content,
  );

/** Tool calls in a message; servers omit the id when a model writes none. */
const callSchema = z.object({
  id: z.string().nullish(),
  function: z.object({ name: z.string(), arguments: argumentsText }),
});

/** Log-probabilities of a choice. */
export const logprobsSchema = z.object({
  content: z.array(z.object({ token: z.string(), logprob: z.number() })).nullish(),
});

/** A non-streamed reply of `POST /chat/completions`. */
export const replySchema = z.object({
  choices: z
    .array(
      z.object({
        message: z.object({
          content: contentText,
          reasoning_content: z.string().nullish(),
          reasoning: z.string().nullish(),
          tool_calls: z.array(callSchema).nullish(),
        }),
        finish_reason: z.string().nullish(),
        logprobs: logprobsSchema.nullish(),
      }),
    )
    .min(1),
  usage: usageSchema.nullish(),
});

/** The parts of a cached reply that every API has. */
export const keptShape = {
  text: z.string(),
  finishReason: z.string().nullable(),
  usage: z.object({ promptTokens: z.number(), completionTokens: z.number() }).nullable(),
  logprobs: z.array(z.object({ token: z.string(), logprob: z.number() })).exactOptional(),
  firstTokenMs: z.number().nullable(),
  totalMs: z.number(),
};

/** A chat reply in the cache. */
export const keptChatReply: z.ZodType<ChatReply> = z.object({
  ...keptShape,
  reasoning: z.string().exactOptional(),
  toolCalls: z.array(z.object({ id: z.string(), name: z.string(), arguments: z.string() })),
});

/** Converts a non-streamed reply. */
export function chatReply(
  { choices: [choice], usage }: z.output<typeof replySchema>,
  totalMs: number,
): ChatReply {
  const message = choice?.message;
  const reasoning = message?.reasoning_content ?? message?.reasoning ?? "";
  const logprobs = choice?.logprobs?.content;
  return {
    text: message?.content ?? "",
    ...(reasoning === "" ? {} : { reasoning }),
    toolCalls: (message?.tool_calls ?? []).map(({ id, function: call }, i) => ({
      id: id ?? `call_${i}`,
      name: call.name,
      arguments: call.arguments,
    })),
    finishReason: choice?.finish_reason ?? null,
    usage: tokensOf(usage),
    ...(logprobs == null ? {} : { logprobs }),
    firstTokenMs: null,
    totalMs,
  };
}

/** Converts a server's token count; null when it sends none. */
export function tokensOf(
  usage: z.output<typeof usageSchema> | null | undefined,
): TokenUsage | null {
  if (usage == null) return null;
  return { promptTokens: usage.prompt_tokens, completionTokens: usage.completion_tokens };
}
