import { setTimeout as wait } from "node:timers/promises";
import { AgentrlError, ExternalError } from "../base/errors.ts";
import { isDiskError } from "./disk-error.ts";
import { connectionProblem } from "../http/exchange.ts";
import { delayMs, isRetried, retryAfterMs } from "../http/retry.ts";
import type { HubSettings } from "./hub-settings.ts";

/** One request to the hub. */
export interface HubRequest {
  method: "GET" | "HEAD";
  url: URL;
  headers?: Readonly<Record<string, string>>;
  /**
   * Redirects within the hub are always followed. To other hosts, where large files lie, `anywhere` goes too, without the token;
   * `hub` stops there and gives the redirect itself.
   */
  follow: "hub" | "anywhere";
  signal?: AbortSignal | undefined;
}

/** An attempt that brought no usable answer; another may fare better. */
export class Interruption extends Error {
  /** Seconds that the server asks to wait, in milliseconds. */
  readonly waitMs: number;
  constructor(message: string, waitMs = 0, cause?: unknown) {
    super(message, { cause });
    this.waitMs = waitMs;
  }
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const MOST_REDIRECTS = 8;

/**
 * One attempt.
 *
 * @param use takes the answer; it calls `alive` whenever data has come, which puts off the time-out.
 * @throws {Interruption} when there is no connection, it is cut or silent, or the status says to come again.
 */
export async function hubExchange<T>(
  settings: HubSettings,
  request: HubRequest,
  use: (response: Response, alive: () => void) => Promise<T>,
): Promise<T> {
  const { signal } = request;
  const silence = new Error(`nothing came for ${settings.timeoutMs} ms`);
  const ending = new AbortController();
  const timer = setTimeout(() => {
    ending.abort(silence);
  }, settings.timeoutMs);
  const alive = (): void => {
    timer.refresh();
  };
  const stop = (): void => {
    ending.abort(signal?.reason);
  };
  signal?.addEventListener("abort", stop, { once: true });
  try {
    signal?.throwIfAborted();
    const response = await followed(settings, request, ending.signal);
    const { status, headers } = response;
    if (isRetried({ kind: "status", status, body: "", headers })) {
      const waitMs = retryAfterMs(headers.get("retry-after"), Date.now());
      throw new Interruption(`status ${status}`, waitMs);
    }
    return await use(response, alive);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof Interruption || error instanceof AgentrlError || isDiskError(error))
      throw error;
    const problem = ending.signal.aborted ? silence.message : connectionProblem(error);
    throw new Interruption(problem, 0, error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
    // What was not read of an answer is not waited for.
    ending.abort();
  }
}

async function followed(
  { endpoint, token }: HubSettings,
  { method, url: first, headers, follow }: HubRequest,
  signal: AbortSignal,
): Promise<Response> {
  const hub = new URL(endpoint).origin;
  let url = first;
  for (let hop = 0; ; hop++) {
    const isHub = url.origin === hub;
    const response = await fetch(url, {
      ...{ method, signal, redirect: "manual" },
      headers: {
        "accept-encoding": "identity", // lengths and ranges are of the file itself
        ...headers,
        ...(token !== null && isHub ? { authorization: `Bearer ${token}` } : {}),
      },
    });
    const location = response.headers.get("location");
    if (!REDIRECTS.has(response.status) || location === null) return response;
    const next = new URL(location, url);
    if (next.origin !== hub && follow === "hub") return response;
    await response.body?.cancel();
    if (hop === MOST_REDIRECTS || !/^https?:$/.test(next.protocol))
      throw new Interruption(`it redirects ${hop + 1} times`);
    if (url.protocol === "https:" && next.protocol === "http:")
      throw new Interruption(`it redirects to ${next.host} without encryption`);
    url = next;
  }
}

/**
 * Attempts until one succeeds.
 * @param what the model or file, for the message.
 * @param work one attempt, or a part of the way: `progress` was made when it throws after calling it.
 * @throws {ExternalError} HUB_UNREACHABLE when `retries` attempts in a row brought nothing.
 */
export async function withRetries<T>(
  settings: HubSettings,
  { what, signal }: { what: string; signal?: AbortSignal | undefined },
  work: (progress: () => void) => Promise<T>,
): Promise<T> {
  let fruitless = 0;
  for (;;) {
    try {
      return await work(() => {
        fruitless = 0;
      });
    } catch (error) {
      if (!(error instanceof Interruption)) throw error;
      fruitless += 1;
      if (fruitless > settings.retries) throw unreachable(settings, what, error);
      const firstMs = settings.retryDelayMs;
      const ms = delayMs({
        ...{ attempt: fruitless, firstMs, retryAfterMs: error.waitMs, random: Math.random },
      });
      await wait(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
      signal?.throwIfAborted();
    }
  }
}

function unreachable(
  { endpoint, retries }: HubSettings,
  what: string,
  error: Interruption,
): ExternalError {
  return new ExternalError(
    "HUB_UNREACHABLE",
    `${what}: ${endpoint} cannot be reached: ${error.message} (${retries + 1} attempts). What has come is kept: run again to go on, set HF_ENDPOINT to a mirror, or give a folder that holds the model.`,
    { cause: error.cause },
  );
}
