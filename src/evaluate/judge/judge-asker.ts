import { z } from "../../base/schema.ts";
import type { ChatMessage, ChatReply } from "../../http/chat-messages.ts";
import { chatShape } from "../../http/chat-settings.ts";
import { commandCaller } from "../../http/caller.ts";
import { chatClient } from "../../http/chat.ts";
import type { HttpEnvironment } from "../../http/endpoint.ts";
import { costOf, type MeterReading, priceSchema } from "../../http/meter.ts";
import type { ReplyCache } from "../../http/reply-cache.ts";
import { type JudgePrompt, verdictJsonSchema } from "../../rewards/judge/judge-prompt.ts";
import { judgePromptName } from "../../rewards/judge/judge-prompts.ts";

/** Ways to request JSON from a server, strictest first. `auto` uses the first that the server accepts. */
export const VERDICT_FORMATS = ["schema", "object", "text"] as const;

/** One of `VERDICT_FORMATS`. */
export type VerdictFormat = (typeof VERDICT_FORMATS)[number];

/** Settings of a judge: the server and its requests. */
export const judgeSchema = z.strictObject({
  ...chatShape,
  prompt: judgePromptName.default("equivalence"),
  verdictFormat: z.enum(["auto", ...VERDICT_FORMATS]).default("auto"),
  /** null sends none: some reasoning models refuse a temperature. */
  temperature: z.number().min(0).nullable().default(0),
  /** Sent with each request; the r-th repeat of a question uses `seed` + r. */
  seed: z.int().min(0).default(0),
  /** Most tokens of a reply; a reasoning judge needs thousands. */
  maxTokens: z.int().min(1).default(512),
  /** Price of tokens; null: no cost is shown. */
  price: priceSchema.nullable().default(null),
});

/** Settings of a judge, checked. */
export type JudgeSettings = z.output<typeof judgeSchema>;

type JudgeReply = Pick<ChatReply, "text" | "finishReason" | "usage">;

/** A verdict's reply in the cache. */
export const keptReply: z.ZodType<JudgeReply> = z.object({
  text: z.string(),
  finishReason: z.string().nullable(),
  usage: z.object({ promptTokens: z.number(), completionTokens: z.number() }).nullable(),
});

/** Requests and tokens so far. */
export interface JudgeTraffic {
  asked: number;
  cached: number;
  /** Second requests after an unreadable reply. */
  reasked: number;
  /** Tokens, if the server counts them; cached replies do not count. */
  promptTokens: number;
  completionTokens: number;
  /** Null without a price. */
  cost: MeterReading["cost"];
}

/** Resources of a judge. */
export interface JudgeOpening {
  cache: ReplyCache;
  signal?: AbortSignal | undefined;
  environment?: HttpEnvironment;
}

type Ask = (
  messages: readonly ChatMessage[],
  repeat: number,
  signal: AbortSignal | undefined,
) => Promise<JudgeReply>;

/** Asks the cache, then the server; equal concurrent requests are sent once. @param told.traffic is increased. @throws HTTP_KEY_MISSING */
export function judgeAsker(
  settings: JudgeSettings,
  told: { format: VerdictFormat; prompt: JudgePrompt; traffic: JudgeTraffic },
  { cache, environment }: JudgeOpening,
): Ask {
  const { baseUrl, model, tokenLimit, temperature, seed, maxTokens, price } = settings;
  const client = chatClient(commandCaller("judge"), settings, environment);
  const underWay = new Map<string, Promise<JudgeReply>>();
  const extra = responseFormat(told.format, told.prompt);
  const { traffic } = told;
  return async (messages, repeat, signal) => {
    const body = {
      messages,
      temperature: temperature ?? undefined,
      seed: seed + repeat,
      maxTokens,
      extra: extra ?? undefined,
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
      const known = await cache.get(request, keptReply);
      if (known !== null) {
        traffic.cached += 1;
        return known;
      }
      const { text, finishReason, usage } = await client.complete({ ...body, signal });
      const reply = { text, finishReason, usage };
      traffic.asked += 1;
      traffic.promptTokens += reply.usage?.promptTokens ?? 0;
      traffic.completionTokens += reply.usage?.completionTokens ?? 0;
      if (price !== null)
        traffic.cost = { amount: costOf(traffic, price), currency: price.currency };
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
