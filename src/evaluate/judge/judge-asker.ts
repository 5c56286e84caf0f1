import { chatClient } from "../../http/chat.ts";
import type { ChatMessage } from "../../http/chat-messages.ts";
import type { HttpEnvironment } from "../../http/endpoint.ts";
import { type JudgePrompt, verdictJsonSchema } from "./judge-prompt.ts";
import type { JudgeSettings, VerdictFormat } from "./judge-settings.ts";
import type { JudgeReply, ReplyCache } from "./reply-cache.ts";

/** What asking has cost so far. */
export interface JudgeTraffic {
  /** Requests that the server answered. */
  asked: number;
  /** Requests that the cache answered. */
  cached: number;
  /** Requests for a readable reply after one that was not. */
  reasked: number;
  /** Tokens, as far as the server counts them; of the cache's replies none. */
  promptTokens: number;
  completionTokens: number;
}

/** What a judge takes from outside. */
export interface JudgeOpening {
  cache: ReplyCache;
  signal?: AbortSignal | undefined;
  environment?: HttpEnvironment;
}

/** One completion for a conversation. @param repeat which asking of it, from 0. */
export type Ask = (
  messages: readonly ChatMessage[],
  repeat: number,
  signal: AbortSignal | undefined,
) => Promise<JudgeReply>;

/**
 * Asks the cache, then the server. The same request is under way once.
 * @param told.traffic is counted up.
 * @throws {ConfigError} HTTP_KEY_MISSING
 */
export function judgeAsker(
  settings: JudgeSettings,
  told: { format: VerdictFormat; prompt: JudgePrompt; traffic: JudgeTraffic },
  { cache, environment }: JudgeOpening,
): Ask {
  const { baseUrl, model, tokenLimit, temperature, seed, maxTokens } = settings;
  const client = chatClient("judge", settings, environment);
  const underWay = new Map<string, Promise<JudgeReply>>();
  const extra = responseFormat(told.format, told.prompt);
  const { traffic } = told;
  return async (messages, repeat, signal) => {
    const body = {
      messages,
      ...(temperature === null ? {} : { temperature }),
      seed: seed + repeat,
      maxTokens,
      ...(extra === null ? {} : { extra }),
    };
    const request = { baseUrl, model, tokenLimit, body, repeat };
    const key = JSON.stringify(request);
    const earlier = underWay.get(key);
    if (earlier !== undefined) {
      const reply = await earlier;
      traffic.cached += 1;
      return reply;
    }
    const asking = (async (): Promise<JudgeReply> => {
      const known = await cache.get(request);
      if (known !== null) {
        traffic.cached += 1;
        return known;
      }
      const { text, finishReason, usage } = await client.complete({ ...body, signal });
      const reply = { text, finishReason, usage };
      traffic.asked += 1;
      traffic.promptTokens += reply.usage?.promptTokens ?? 0;
      traffic.completionTokens += reply.usage?.completionTokens ?? 0;
      await cache.set(request, reply);
      return reply;
    })();
    underWay.set(key, asking);
    try {
      return await asking;
    } finally {
      underWay.delete(key);
    }
  };
}

function responseFormat(
  format: VerdictFormat,
  prompt: JudgePrompt,
): Readonly<Record<string, unknown>> | null {
  if (format === "text") return null;
  if (format === "object") return { response_format: { type: "json_object" } };
  const schema = { name: "verdict", strict: true, schema: verdictJsonSchema(prompt) };
  return { response_format: { type: "json_schema", json_schema: schema } };
}
