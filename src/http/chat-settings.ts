import { z } from "../base/schema.ts";
import { DEFAULT_KEY_VARIABLE } from "./api-key.ts";
import { httpShape, serverAddress } from "./http-options.ts";
import { type Price, priceSchema } from "./meter.ts";

export const chatShape = {
  /** Address including the version: https://api.openai.com/v1, http://127.0.0.1:8000/v1. */
  baseUrl: serverAddress,
  /** The server's name of the model. */
  model: z.string().min(1),
  /** Environment variable with the API key; null: no key. */
  apiKeyEnv: z.string().min(1).nullable().default(DEFAULT_KEY_VARIABLE),
  /** Request key of the token limit: OpenAI's reasoning models reject max_tokens. */
  tokenLimit: z.enum(["max_tokens", "max_completion_tokens"]).default("max_tokens"),
  ...httpShape,
};

/** Options of a metered model: those of a chat server, plus streaming, pacing and price. */
export const measuredModelShape = {
  ...chatShape,
  /** Stream replies, which makes the time to the first token known. */
  stream: z.boolean().default(false),
  /** Limit on prompt and completion tokens per minute, estimated before a request and corrected after it; null: no limit. */
  tokensPerMinute: z.number().positive().nullable().default(null),
  /** Price of tokens; null: no cost is shown. */
  price: priceSchema.nullable().default(null),
  /** Folder of stored replies: an equal request is not sent again; null: none. */
  cache: z.string().min(1).nullable().default(null),
};

/** A chat server's settings, checked; absent keys use the defaults of `measuredModelShape`. */
export type ChatSettings = z.output<z.ZodObject<typeof chatShape>> & {
  stream?: boolean;
  tokensPerMinute?: number | null;
  price?: Price | null;
  cache?: string | null;
};
