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
  // Servers refuse a call without a name, and the whole conversation with it.
  return { id, type: "function", function: { name: name || "unnamed", arguments: sent } };
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

/** A field that a reply does not need: what is not of its form is unknown, and decides nothing. */
export function optional<T>(schema: z.ZodType<T>): z.ZodType<T | null> {
  return schema
    .nullish()
    .catch(null)
    .transform((value) => value ?? null);
}

const count = z.int().min(0);

/** Token counts from the server. */
export const usage = optional(z.object({ prompt_tokens: count, completion_tokens: count }));

/** Why a message ended; "" is no reason. */
export const finishReason = optional(z.string().min(1)).transform((reason) =>
  reason !== null && /^(max_tokens|max_length|model_length)$/i.test(reason) ? "length" : reason,
);

/** A call's arguments: JSON as text; some servers send the JSON value itself. */
const argumentsText = z
  .unknown()
  .transform((value) =>
    value === undefined || value === null || typeof value === "string"
      ? (value ?? "")
      : JSON.stringify(value),
  );

/** A part of a message; reasoning and other parts without text have types of their own. */
const contentPart = z.union([
  z.string(),
  z.null().transform(() => ""),
  z
    .object({ type: z.enum(["text", "output_text"]).nullish(), text: z.string().nullish() })
    .transform(({ text }) => text ?? ""),
  z
    .object({ type: z.literal("refusal"), refusal: z.string().nullish() })
    .transform(({ refusal }) => refusal ?? ""),
  z.object({ type: z.string().regex(/^(?!(text|output_text|refusal)$)/) }).transform(() => ""),
]);

/** Content is text; some servers send parts, of which only text counts. */
const contentText = z
  .union([z.string(), z.array(contentPart)])
  .nullish()
  .transform((content) => (Array.isArray(content) ? content.join("") : (content ?? "")));

/** A call, or a piece of one, by a model: without a name, it is the model's mistake. */
const calledFunction = z
  .object({ name: optional(z.string()), arguments: argumentsText })
  .nullish()
  .transform((called) => ({ name: called?.name ?? "", arguments: called?.arguments ?? "" }));

/** A tool call; servers omit the id when a model writes none, and the index where calls are whole. */
const callSchema = z
  .object({ index: optional(z.int()), id: optional(z.string()), function: calledFunction })
  .nullish()
  .transform((call) => call ?? { index: null, id: null, function: { name: "", arguments: "" } });

/** Log-probabilities of a choice. */
export const chatLogprobs = optional(
  z.object({ content: z.array(z.object({ token: z.string(), logprob: z.number() })).nullish() }),
);

export const messageSchema = z
  .object({
    content: contentText,
    refusal: optional(z.string()),
    reasoning_content: optional(z.string()),
    reasoning: optional(z.string()),
    tool_calls: z.array(callSchema).nullish(),
    // Before there were several calls in a message, it had this one.
    function_call: calledFunction,
  })
  .transform(({ content, refusal, reasoning_content, reasoning, tool_calls, function_call }) => {
    const isOldCall = function_call.name !== "" || function_call.arguments !== "";
    return {
      // A refusal is what the model says.
      text: content === "" ? (refusal ?? "") : content,
      reasoning: reasoning_content ?? reasoning ?? "",
      calls: tool_calls ?? (isOldCall ? [{ index: 0, id: null, function: function_call }] : []),
    };
  });

/** A non-streamed reply of `POST /chat/completions`. */
export const replySchema = z.object({
  choices: z
    .array(
      z.object({ message: messageSchema, finish_reason: finishReason, logprobs: chatLogprobs }),
    )
    .min(1),
  usage,
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
  { choices: [choice], usage: counted }: z.output<typeof replySchema>,
  totalMs: number,
): ChatReply {
  const { text = "", reasoning = "", calls = [] } = choice?.message ?? {};
  const logprobs = choice?.logprobs?.content;
  return {
    text,
    reasoning: reasoning === "" ? undefined : reasoning,
    toolCalls: calls.map(({ id, function: call }, i) => ({ id: id ?? `call_${i}`, ...call })),
    finishReason: choice?.finish_reason ?? null,
    usage: tokensOf(counted),
    logprobs: logprobs ?? undefined,
    firstTokenMs: null,
    totalMs,
  };
}

/** Converts a server's token count; null when it sends none. */
export function tokensOf(counted: z.output<typeof usage>): TokenUsage | null {
  if (counted === null) return null;
  return { promptTokens: counted.prompt_tokens, completionTokens: counted.completion_tokens };
}
