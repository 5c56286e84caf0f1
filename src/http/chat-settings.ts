import { z } from "../base/schema.ts";
import { httpShape, serverAddress } from "./http-options.ts";
import { type Price, priceSchema } from "./meter.ts";

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
