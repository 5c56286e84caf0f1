import { z } from "../base/schema.ts";
import type { ChatSettings, ReplyTimes, TokenLogprob, TokenUsage } from "./chat.ts";
import { tokensOf, usageSchema } from "./chat-reply.ts";
import { type HttpEnvironment, httpClient } from "./client.ts";
import { modelKey } from "./model-key.ts";

/** One request for the continuation of a text. What is absent is left to the server. */
export interface CompletionRequest {
  /** Text, or token ids where the server takes them. */
  prompt: string | readonly number[];
  temperature?: number;
  topP?: number;
  /** Tokens of the completion at most; servers that are not told write 16. */
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

export interface CompletionReply extends ReplyTimes {
  text: string;
  /** `stop`, `length`, …; null where the server does not say. */
  finishReason: string | null;
  /** Null where the server does not count. */
  usage: TokenUsage | null;
  /** Where they were asked for and given. */
  logprobs?: TokenLogprob[];
}

export interface CompletionsClient {
  /**
   * Asks for one completion. A retry may be billed twice: sampling has no other effect, so it counts as idempotent.
   * @throws {ExternalError} HTTP_TIMEOUT, HTTP_UNREACHABLE, HTTP_STATUS, HTTP_BAD_REPLY.
   */
  complete(request: CompletionRequest): Promise<CompletionReply>;
}

const logprobsSchema = z.object({
  tokens: z.array(z.string()),
  token_logprobs: z.array(z.number().nullable()),
});

const replySchema = z.object({
  choices: z
    .array(
      z.object({
        text: z.string(),
        finish_reason: z.string().nullish(),
        logprobs: logprobsSchema.nullish(),
      }),
    )
    .min(1),
  usage: usageSchema.nullish(),
});

/**
 * A client of `POST /completions`: the prompt as it is, without a chat template of the server's.
 *
 * @param name who asks, for messages.
 * @throws {ConfigError} HTTP_KEY_MISSING when the variable is not set; a server on this machine is then asked without a key.
 */
export function completionsClient(
  name: string,
  settings: ChatSettings,
  environment?: HttpEnvironment,
): CompletionsClient {
  const client = httpClient(
    { name, url: settings.baseUrl, settings, ...modelKey(name, settings) },
    environment,
  );
  return {
    async complete(request) {
      const body = completionBody(settings.model, request);
      const asked = { path: "/completions", body, idempotent: true, signal: request.signal };
      const { value, totalMs } = await client.json(asked, replySchema);
      const [choice] = value.choices;
      return {
        text: choice?.text ?? "",
        finishReason: choice?.finish_reason ?? null,
        usage: tokensOf(value.usage),
        ...(choice?.logprobs == null ? {} : { logprobs: pairs(choice.logprobs) }),
        firstTokenMs: null,
        totalMs,
      };
    },
  };
}

function completionBody(model: string, request: CompletionRequest): Record<string, unknown> {
  return {
    model,
    prompt: request.prompt,
    temperature: request.temperature,
    top_p: request.topP,
    max_tokens: request.maxTokens,
    stop: request.stop,
    seed: request.seed,
    logprobs: request.logprobs === true ? 0 : undefined,
    stream: false,
    ...request.extra,
  };
}

function pairs({ tokens, token_logprobs }: z.output<typeof logprobsSchema>): TokenLogprob[] {
  return tokens.flatMap((token, i) => {
    const logprob = token_logprobs[i];
    return typeof logprob === "number" ? [{ token, logprob }] : [];
  });
}
