import { z } from "../base/schema.ts";
import { suggest } from "../base/nearest.ts";
import { modelKey } from "./api-key.ts";
import { type Caller, callerOf } from "./caller.ts";
import type { ReplyTimes, TokenUsage } from "./chat-messages.ts";
import type { ChatSettings } from "./chat-settings.ts";
import { httpClient, refusalInJson } from "./client.ts";
import { pace } from "./concurrency.ts";
import {
  type Endpoint,
  type Explanation,
  type HttpEnvironment,
  type HttpRequest,
  systemEnvironment,
} from "./endpoint.ts";
import type { StreamedReply } from "./event-stream.ts";
import type { ReplyHead } from "./exchange.ts";
import { type Meter, meter } from "./meter.ts";
import { type Refusal, isContextLimit, isUnknownModel } from "./refusal.ts";
import { folderCache, noCache } from "./reply-cache.ts";

/** The fields of every model reply. */
type ModelReply = ReplyTimes & {
  text: string;
  finishReason: string | null;
  usage: TokenUsage | null;
};

/** One request to a model, and the readers of its reply. */
export interface ModelRequest<S extends z.ZodType, T extends ModelReply> {
  path: string;
  body: object;
  /** Limit of the completion, if known. */
  maxTokens: number | undefined;
  /** Schema of a non-streamed reply. */
  schema: S;
  whole: (value: z.output<S>, totalMs: number) => T;
  /** Schema of a reply in the cache. */
  kept: z.ZodType<T>;
  /** Reads a streamed reply; null when the request does not stream. */
  streamed: (() => StreamedReply<T>) | null;
  signal: AbortSignal | undefined;
}

export interface ModelServer {
  /** The server may answer a streaming request with a whole reply. */
  ask<S extends z.ZodType, T extends ModelReply>(request: ModelRequest<S, T>): Promise<T>;
  readonly meter: Meter;
}

/**
 * @param caller for messages.
 * @throws {ConfigError} HTTP_KEY_MISSING as `modelKey`.
 */
export function modelServer(
  caller: string | Caller,
  settings: ChatSettings,
  environment: HttpEnvironment = systemEnvironment,
): ModelServer {
  const { tokensPerMinute = null, price = null } = settings;
  const metered = meter(price);
  const { name, nameOf } = callerOf(caller);
  const key = modelKey(nameOf("apiKeyEnv") ?? "apiKeyEnv", settings);
  const endpoint = { name, nameOf, url: settings.baseUrl, settings, ...key };
  const client = httpClient({ ...endpoint, onRetry: () => metered.retried() }, environment);
  const tokens = pace(tokensPerMinute, environment);
  const explain = explainer(endpoint);
  const cache = settings.cache == null ? noCache : folderCache(settings.cache);

  return {
    meter: metered,
    async ask({ path, body, maxTokens, schema, whole, kept, streamed, signal }) {
      const request = { baseUrl: settings.baseUrl, path, body };
      const known = await cache.get(request, kept);
      if (known !== null) {
        metered.cached();
        return known;
      }
      const text = JSON.stringify(body);
      const expected = Math.ceil(text.length / CHARACTERS_PER_TOKEN) + (maxTokens ?? 0);
      const reading: { stream: ReturnType<NonNullable<typeof streamed>> | null } = { stream: null };
      const failureIn = refusalInJson(schema);
      const asked: HttpRequest = {
        path,
        body: text,
        idempotent: true,
        signal,
        isFinal: isContextLimit,
        explain,
        failureIn: (reply) => (reading.stream === null ? failureIn(reply) : null),
        reader: (head) => (reading.stream = isEventStream(head) ? (streamed?.() ?? null) : null),
      };
      if (tokensPerMinute !== null) await tokens.take(expected, signal);
      try {
        const reply = await client.request(asked);
        const { totalMs } = reply;
        const result =
          reading.stream?.reply(totalMs) ?? whole(client.parsed(asked, reply, schema), totalMs);
        metered.answered(result);
        if (isKept(result)) await cache.set(request, result);
        const { promptTokens, completionTokens } = result.usage ?? NO_TOKENS;
        if (result.usage !== null) tokens.correct(promptTokens + completionTokens - expected);
        return result;
      } catch (error) {
        if (signal?.aborted !== true) metered.failed();
        tokens.correct(-expected);
        throw error;
      }
    },
  };
}

/** A reply that counts as a failure is asked for again, so it must not be in the cache. */
function isKept({ text, finishReason }: ModelReply): boolean {
  return finishReason !== "content_filter" && (text !== "" || finishReason !== null);
}

/** An estimate for `tokensPerMinute` only; the server's count corrects it. */
const CHARACTERS_PER_TOKEN = 4;

const NO_TOKENS: TokenUsage = { promptTokens: 0, completionTokens: 0 };

function isEventStream({ headers }: ReplyHead): boolean {
  return /^text\/event-stream\b/i.test(headers.get("content-type") ?? "");
}

/** Explains a refusal; requests the server's list of models at most once. */
function explainer(
  endpoint: Endpoint & { settings: ChatSettings },
): (refusal: Refusal) => Promise<Explanation | undefined> {
  let models: Promise<string[] | null> | undefined;
  return async (refusal) => {
    if (isContextLimit(refusal)) {
      const remedy =
        "Shorten the prompt, lower the limit on tokens, or start the server with a longer context.";
      return { code: "HTTP_CONTEXT_LENGTH", remedy };
    }
    if (refusal.status !== 404 && !isUnknownModel(refusal)) return undefined;
    models ??= modelsOf(endpoint);
    const { baseUrl, model } = endpoint.settings;
    const listed = await models;
    if (listed !== null && !listed.includes(model))
      return { remedy: `model is ${JSON.stringify(model)}. ${suggest(model, listed)}` };
    if (listed !== null)
      return { remedy: "The server lists the model: check the other options of the request." };
    return /\/v\d+\/?$/.test(new URL(baseUrl).pathname)
      ? { remedy: "Check the address and the model name." }
      : { remedy: `The address does not end in a version: try ${baseUrl.replace(/\/$/, "")}/v1.` };
  };
}

const modelsSchema = z.object({ data: z.array(z.object({ id: z.string() })).min(1) });

/** Null when the server does not list its models. */
async function modelsOf(endpoint: Endpoint): Promise<string[] | null> {
  const { settings, onRetry: _, ...same } = endpoint;
  const few = { retries: 0, timeoutMs: Math.min(settings.timeoutMs, 5000) };
  const client = httpClient({ ...same, settings: { ...settings, ...few } });
  try {
    const { value } = await client.json({ path: "/models" }, modelsSchema);
    return value.data.map(({ id }) => id);
  } catch {
    return null;
  }
}
