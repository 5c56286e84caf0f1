import { z } from "../base/schema.ts";
import { chatBody } from "./chat-body.ts";
import { chatReply, replySchema } from "./chat-reply.ts";
import { chatStream } from "./chat-stream.ts";
import type { HttpEnvironment } from "./client.ts";
import { httpShape, serverAddress } from "./http-options.ts";
import { type Meter, type Price, priceSchema } from "./meter.ts";
import { modelServer } from "./model-server.ts";

/** Options of everything that asks an OpenAI-compatible chat server. */
export const chatShape = {
  /** Address up to and including the version: https://api.openai.com/v1, http://127.0.0.1:8000/v1. */
  baseUrl: serverAddress,
  /** As the server names it. */
  model: z.string().min(1),
  /** Environment variable that holds the key; null: the server wants none. */
  apiKeyEnv: z.string().min(1).nullable().default("OPENAI_API_KEY"),
  /** The key under which the server takes the limit on tokens: OpenAI's reasoning models refuse max_tokens. */
  tokenLimit: z.enum(["max_tokens", "max_completion_tokens"]).default("max_tokens"),
  ...httpShape,
};

/** Options of a model that is measured: those of a chat server, and what is asked and counted beside. */
export const measuredModelShape = {
  ...chatShape,
  /** Whether replies come as they are written, so that the time to the first token is known. */
  stream: z.boolean().default(false),
  /** Tokens of prompts and completions a minute at most, guessed before a request and put right after it; null: no limit. */
  tokensPerMinute: z.number().positive().nullable().default(null),
  /** What tokens cost; null: no cost is shown. */
  price: priceSchema.nullable().default(null),
};

/** A chat server and how to ask it, checked; absent is as the defaults of `measuredModelShape`. */
export type ChatSettings = z.output<z.ZodObject<typeof chatShape>> & {
  stream?: boolean;
  tokensPerMinute?: number | null;
  price?: Price | null;
};

/** A tool's call, as the server wrote it. */
export interface ToolCall {
  id: string;
  name: string;
  /** Meant to be JSON; not parsed, so that what is not can be answered as a tool's failure. */
  arguments: string;
}

/** A tool, as it is offered to a model; its parameters are a JSON Schema. */
export interface ToolSchema {
  type: "function";
  function: { name: string; description: string; parameters: Readonly<Record<string, unknown>> };
}

export interface ChatMessage {
  role: "system" | "user" | "assistant" | "tool";
  /** Null: an assistant's message that only calls tools. */
  content: string | null;
  tool_calls?: readonly ToolCall[];
  /** The call that a tool's message answers. */
  tool_call_id?: string;
  name?: string;
}

/** Which tools may be called: none, as the model likes, at least one, or this one. */
export type ToolChoice = "none" | "auto" | "required" | { name: string };

/** How one completion is drawn. What is absent is left to the server, whose generation_config may set it. */
export interface DrawRequest {
  temperature?: number;
  topP?: number;
  /** Tokens of the completion at most; servers of plain completions that are not told write 16. */
  maxTokens?: number;
  stop?: readonly string[];
  seed?: number;
  /** Asks for the log-probability of each token. */
  logprobs?: boolean;
  /** Wins over the settings. */
  stream?: boolean;
  /** Further keys of the body, as the server knows them; they win over the others. */
  extra?: Readonly<Record<string, unknown>>;
  signal?: AbortSignal | undefined;
}

/** One request for one message of a chat. */
export interface ChatRequest extends DrawRequest {
  messages: readonly ChatMessage[];
  tools?: readonly ToolSchema[];
  toolChoice?: ToolChoice;
}

/** Tokens of one request, as the server counts them. */
export interface TokenUsage {
  promptTokens: number;
  completionTokens: number;
}

/** A token of a completion, as the server tells it. */
export interface TokenLogprob {
  token: string;
  /** Nats. */
  logprob: number;
}

/** How long a server took; waits for a free place and attempts that failed are not counted. */
export interface ReplyTimes {
  /** From sending to the first piece of text, thought or call, in milliseconds; null where the reply came whole. */
  firstTokenMs: number | null;
  /** From sending to the end of the reply, in milliseconds. */
  totalMs: number;
}

export interface ChatReply extends ReplyTimes {
  /** Empty where the server gives null. */
  text: string;
  /** What a reasoning model thought, where the server tells it apart from the text. */
  reasoning?: string;
  /** In the order of the server; empty where none is called. */
  toolCalls: ToolCall[];
  /** `stop`, `length`, `tool_calls`, `content_filter`, …; null where the server does not say. */
  finishReason: string | null;
  /** Null where the server does not count. */
  usage: TokenUsage | null;
  /** Where they were asked for and given. */
  logprobs?: TokenLogprob[];
}

export interface ChatClient {
  /**
   * Asks for one completion. A retry may be billed twice: sampling has no other effect, so it counts as idempotent.
   * No text and no calls are no failure here: `finishReason` says why.
   * @throws {ExternalError} HTTP_TIMEOUT, HTTP_UNREACHABLE, HTTP_CUT, HTTP_STATUS, HTTP_CONTEXT_LENGTH, HTTP_BAD_REPLY.
   */
  complete(request: ChatRequest): Promise<ChatReply>;
  /** What was asked so far. */
  readonly meter: Meter;
}

/**
 * A client of `POST /chat/completions`.
 *
 * @param name who asks, for messages.
 * @throws {ConfigError} HTTP_KEY_MISSING when the variable is not set; a server on this machine is then asked without a key.
 */
export function chatClient(
  name: string,
  settings: ChatSettings,
  environment?: HttpEnvironment,
): ChatClient {
  const server = modelServer(name, settings, environment);
  return {
    meter: server.meter,
    complete(request) {
      const isStreamed = request.stream ?? settings.stream ?? false;
      return server.ask({
        path: "/chat/completions",
        body: chatBody(settings, request, isStreamed),
        maxTokens: request.maxTokens,
        schema: replySchema,
        whole: chatReply,
        streamed: isStreamed ? chatStream : null,
        signal: request.signal,
      });
    },
  };
}
