import { z } from "../base/schema.ts";
import { type HttpEnvironment, httpClient } from "./client.ts";
import { httpShape, serverAddress } from "./http-options.ts";
import { modelKey } from "./model-key.ts";

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

/** A chat server and how to ask it, checked. */
export type ChatSettings = z.output<z.ZodObject<typeof chatShape>>;

export interface ChatMessage {
  role: "system" | "user" | "assistant";
  content: string;
}

/** One request for one completion. What is absent is left to the server, whose generation_config may set it. */
export interface ChatRequest {
  messages: readonly ChatMessage[];
  temperature?: number;
  topP?: number;
  /** Tokens of the completion at most. */
  maxTokens?: number;
  stop?: readonly string[];
  seed?: number;
  /** Further keys of the body, as the server knows them; they win over the others. */
  extra?: Readonly<Record<string, unknown>>;
  signal?: AbortSignal | undefined;
}

export interface ChatReply {
  /** Empty where the server gives null. */
  text: string;
  /** `stop`, `length`, `content_filter`, …; null where the server does not say. */
  finishReason: string | null;
  /** Tokens; null where the server does not count. */
  usage: { promptTokens: number; completionTokens: number } | null;
}

export interface ChatClient {
  /**
   * Asks for one completion. A retry may be billed twice: sampling has no other effect, so it counts as idempotent.
   * @throws {ExternalError} HTTP_TIMEOUT, HTTP_UNREACHABLE, HTTP_STATUS, HTTP_BAD_REPLY.
   */
  complete(request: ChatRequest): Promise<ChatReply>;
}

const replySchema = z.object({
  choices: z
    .array(
      z.object({
        message: z.object({ content: z.string().nullish() }),
        finish_reason: z.string().nullish(),
      }),
    )
    .min(1),
  usage: z.object({ prompt_tokens: z.number(), completion_tokens: z.number() }).nullish(),
});

/**
 * A client of `POST /chat/completions`, not streaming.
 *
 * @param name who asks, for messages.
 * @throws {ConfigError} HTTP_KEY_MISSING when the variable is not set; a server on this machine is then asked without a key.
 */
export function chatClient(
  name: string,
  settings: ChatSettings,
  environment?: HttpEnvironment,
): ChatClient {
  const { baseUrl, model, tokenLimit } = settings;
  const client = httpClient(
    { name, url: baseUrl, settings, ...modelKey(name, settings) },
    environment,
  );
  return {
    async complete({ messages, temperature, topP, maxTokens, stop, seed, extra, signal }) {
      const body = {
        model,
        messages,
        temperature,
        top_p: topP,
        [tokenLimit]: maxTokens,
        stop,
        seed,
        stream: false,
        ...extra,
      };
      const asked = { path: "/chat/completions", body, idempotent: true, signal };
      const { value } = await client.json(asked, replySchema);
      const [choice] = value.choices;
      return {
        text: choice?.message.content ?? "",
        finishReason: choice?.finish_reason ?? null,
        usage: value.usage == null ? null : tokensOf(value.usage),
      };
    },
  };
}

function tokensOf(usage: { prompt_tokens: number; completion_tokens: number }) {
  return { promptTokens: usage.prompt_tokens, completionTokens: usage.completion_tokens };
}
