import { setTimeout as wait } from "node:timers/promises";
import type { ErrorCode } from "../base/errors.ts";
import type { BodyReader, HttpReply, ReplyHead } from "./exchange.ts";
import type { HttpSettings } from "./http-options.ts";
import type { Refusal } from "./refusal.ts";

/** A server, as seen by one part. */
export interface Endpoint {
  /** Who asks, for messages: `qdrant`, `judge`. */
  name: string;
  /** Checked by `serverAddress`. */
  url: string;
  settings: HttpSettings;
  /** Sent with every request. */
  headers?: Readonly<Record<string, string>>;
  /** Keys by the variable that they come from; no message ever holds one. */
  keys?: Readonly<Record<string, string>>;
  /** Called before each attempt after the first. */
  onRetry?: () => void;
}

/** One request. */
export interface HttpRequest {
  /** GET without a body, POST with one. */
  method?: "GET" | "POST";
  /** Appended to the endpoint's address; with its leading slash. */
  path?: string;
  /** Never shown in messages. */
  parameters?: Readonly<Record<string, string>>;
  headers?: Readonly<Record<string, string>>;
  /** Text as it is; anything else as JSON. */
  body?: unknown;
  /** Whether asking twice does no harm; GET always is. Nothing else is ever retried. */
  idempotent?: boolean;
  /** Statuses beside 2xx that are answers too. */
  accepts?: readonly number[];
  /** For servers that hide failures in a reply of status 200: the status that it stands for and what it says. */
  failureIn?: (reply: HttpReply) => Refusal | null;
  /** Whether a refusal is final although its status says to come again. */
  isFinal?: (refusal: Refusal) => boolean;
  /** Takes the body of a good reply as it comes; called for each attempt, null where the body is to be gathered. */
  reader?: ((head: ReplyHead) => BodyReader | null) | undefined;
  /** What a refusal means and what to do, for servers of which more is known than their status; undefined: nothing. */
  explain?: (refusal: Refusal) => Promise<Explanation | undefined>;
  signal?: AbortSignal | undefined;
}

/** Of a refusal. */
export interface Explanation {
  /** HTTP_STATUS where it is absent. */
  code?: ErrorCode;
  /** Sentences. */
  remedy: string;
}

/** What a client takes from outside, so that tests need no clock and no chance. */
export interface HttpEnvironment {
  /** Uniform in [0, 1). */
  random: () => number;
  /** Milliseconds since any moment; never goes back, whatever happens to the clock on the wall. */
  now: () => number;
  /** Unix time in milliseconds: what a server's own dates are compared with. */
  date: () => number;
  /** Rejects with the signal's reason when aborted. */
  sleep: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

/** The machine's own clock and chance. */
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
