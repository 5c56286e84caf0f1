import { setTimeout as wait } from "node:timers/promises";
import type { ErrorCode } from "../base/errors.ts";
import type { BodyReader, HttpReply, ReplyHead } from "./exchange.ts";
import type { HttpSettings } from "./http-options.ts";
import type { Refusal } from "./refusal.ts";

export interface Endpoint {
  /** Name of the part, for messages: `qdrant`, `judge`. */
  name: string;
  /** Checked by `serverAddress`. */
  url: string;
  settings: HttpSettings;
  /** Sent with every request. */
  headers?: Readonly<Record<string, string>>;
  /** Keys by their environment variable; messages never contain one. */
  keys?: Readonly<Record<string, string>>;
  /** How messages name a setting: by its key where absent. */
  nameOf?: SettingName;
  /** Called before each attempt after the first. */
  onRetry?: () => void;
}

/** The name of a setting in messages: the command's option, the key of the recipe, or both; null: it cannot be set. */
export type SettingName = (key: keyof HttpSettings | "apiKeyEnv") => string | null;

export interface HttpRequest {
  /** GET without a body, POST with one. */
  method?: "GET" | "POST";
  /** Appended to the endpoint's address; with its leading slash. */
  path?: string;
  /** Never shown in messages. */
  parameters?: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
  /** Text and bytes as they are; anything else as JSON. */
  body?: unknown;
  /** Whether a repeated request does no harm; GET always is. Other requests are never retried. */
  idempotent?: boolean;
  /** Accepted statuses besides 2xx. */
  accepts?: readonly number[];
  /** For servers that return failures with status 200: the status and message to use instead. */
  failureIn?: (reply: HttpReply) => Refusal | null;
  /** Whether a refusal is final although its status allows a retry. */
  isFinal?: (refusal: Refusal) => boolean;
  /** Reads the body of a good reply as it arrives; called once per attempt; null: the body is collected. */
  reader?: ((head: ReplyHead) => BodyReader | null) | undefined;
  /** Explains a refusal, for servers of which more is known than the status; undefined: no explanation. */
  explain?: (refusal: Refusal) => Promise<Explanation | undefined>;
  signal?: AbortSignal | undefined;
}

export interface Explanation {
  /** Default: HTTP_STATUS. */
  code?: ErrorCode;
  /** Full sentences. */
  remedy: string;
}

/** Clock, randomness and sleep of a client; tests replace them. */
export interface HttpEnvironment {
  /** Uniform in [0, 1). */
  random: () => number;
  /** Monotonic milliseconds. */
  now: () => number;
  /** Unix time in milliseconds, to compare with dates from a server. */
  date: () => number;
  /** Rejects with the signal's reason when aborted. */
  sleep: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

export const systemEnvironment: HttpEnvironment = {
  random: Math.random,
  now: () => performance.now(),
  date: Date.now,
  sleep: async (ms, signal) => {
    try {
      await wait(ms, undefined, signal === undefined ? {} : { signal });
    } catch (error) {
      signal?.throwIfAborted();
      throw error;
    }
  },
};
