import { definedValues } from "../base/defined-values.ts";
import { pipeline, type Readable } from "node:stream";
import { ReadableStream } from "node:stream/web";
import { setTimeout as wait } from "node:timers/promises";
import { AgentrlError, errorMessage } from "../base/errors.ts";
import { connectionProblem, decompressor } from "./exchange.ts";
import { delayMs, isRetried, retryAfterMs } from "./retry.ts";
import { routeTo } from "./route.ts";

/** Source of files, with timeouts and retries. */
export interface TransferSettings {
  /** Address of the server, without a trailing slash. */
  endpoint: string;
  /** Sent to the endpoint only; never in a message. */
  token: string | null;
  /** Milliseconds without any data after which a connection counts as cut. */
  timeoutMs: number;
  /** Retries after an attempt without progress. */
  retries: number;
  /** Upper limit of the first retry's delay, in milliseconds; doubles with each retry. */
  retryDelayMs: number;
}

interface TransferRequest {
  method: "GET" | "HEAD";
  url: URL;
  headers?: Readonly<Record<string, string>>;
  /**
   * Redirects within the endpoint are always followed. `anywhere` also follows redirects to other hosts, which store large files,
   * without the token; `endpoint` returns such a redirect instead.
   */
  follow: "endpoint" | "anywhere";
  signal?: AbortSignal | undefined;
}

/** An attempt without a usable answer; a retry may succeed. */
export class Interruption extends Error {
  /** Milliseconds that the server asks the client to wait. */
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
 * @param use reads the answer; it must call `alive` when data arrives, which resets the timeout.
 * @throws {Interruption} when there is no connection, it is cut or silent, or the status allows a retry.
 */
export async function transfer<T>(
  settings: TransferSettings,
  request: TransferRequest,
  use: (response: Response, alive: () => void) => Promise<T>,
): Promise<T> {
  const { signal } = request;
  const silence = new Error(`no data for ${settings.timeoutMs} ms`);
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(silence), settings.timeoutMs);
  const alive = (): void => void timer.refresh();
  const stop = (): void => ending.abort(signal?.reason);
  signal?.addEventListener("abort", stop, { once: true });
  try {
    signal?.throwIfAborted();
    const response = await followed(settings, request, ending.signal);
    const { status, headers } = response;
    if (isRetried({ kind: "status", status, body: "", headers })) {
      const waitMs = retryAfterMs(headers.get("retry-after"), Date.now());
      const later = waitMs > 0 ? `, retry after ${Math.ceil(waitMs / 1000)} s` : "";
      throw new Interruption(`status ${status}${later}`, waitMs);
    }
    return await use(response, alive);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof Interruption || error instanceof AgentrlError || isDiskError(error))
      throw error;
    const problem = ending.signal.aborted ? silence.message : errorMessage(error);
    throw new Interruption(problem, 0, error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
    // Do not wait for the unread rest of an answer.
    ending.abort();
  }
}

/** Node's `fetch` for files, over the proxy of the environment. @throws {Error} without an answer. */
export async function fetchFile(
  address: string | URL,
  { headers: given, signal }: RequestInit = {},
): Promise<Response> {
  const url = new URL(address);
  const { authorization, ...headers } = Object.fromEntries(new Headers(given));
  const token = authorization?.replace(/^Bearer /i, "") ?? null;
  const request = { method: "GET", url, headers, follow: "anywhere" } as const;
  return followed({ endpoint: url.origin, token }, request, signal ?? undefined);
}

async function followed(
  { endpoint, token }: Pick<TransferSettings, "endpoint" | "token">,
  { method, url: first, headers, follow }: TransferRequest,
  signal: AbortSignal | undefined,
): Promise<Response> {
  const home = new URL(endpoint).origin;
  let url = first;
  for (let hop = 0; ; hop++) {
    const isHome = url.origin === home;
    const response = await answered(url, {
      method,
      signal,
      headers: definedValues({
        "accept-encoding": "identity", // lengths and ranges must refer to the file itself
        "user-agent": "agentrl",
        ...headers,
        authorization: token !== null && isHome ? `Bearer ${token}` : undefined,
      }),
    });
    const location = response.headers.get("location");
    if (!REDIRECTS.has(response.status) || location === null) return response;
    const next = new URL(location, url);
    if (next.origin !== home && follow === "endpoint") return response;
    await response.body?.cancel();
    if (hop === MOST_REDIRECTS || !/^https?:$/.test(next.protocol))
      throw new Interruption(`it redirects ${hop + 1} times`);
    if (url.protocol === "https:" && next.protocol === "http:")
      throw new Interruption(`it redirects to ${next.host} without encryption`);
    url = next;
  }
}

/** One request without redirects. @throws {Error} with the reason when there is no answer; reading the body throws the same. */
async function answered(
  url: URL,
  asked: {
    method: "GET" | "HEAD";
    headers: Record<string, string>;
    signal: AbortSignal | undefined;
  },
): Promise<Response> {
  const { dispatcher, target, proxy } = routeTo(url);
  const { method, signal = null } = asked;
  const headers = { ...asked.headers, ...target.headers };
  const reply = await dispatcher
    .request({ ...target, method, headers, signal })
    .catch((error: unknown) => {
      throw new Error(connectionProblem(error, proxy), { cause: error });
    });
  const { statusCode: status, body } = reply;
  const hasBody = method !== "HEAD" && status !== 204 && status !== 304;
  if (!hasBody) body.resume();
  const entries = Object.entries(reply.headers).flatMap(([name, value = ""]) =>
    [value].flat().map((each): [string, string] => [name, each]),
  );
  const unpack = decompressor(new Headers(entries).get("content-encoding"));
  const content = unpack === null ? body : pipeline(body, unpack, () => undefined);
  return new Response(hasBody ? webStream(content) : null, { status, headers: entries });
}

/** A body as Response takes it. Node's own `Readable.toWeb` throws out of any handler when data comes after a cancellation. */
function webStream(content: Readable): ReadableStream<Uint8Array> {
  // A reader of the stream gets the error; without a listener Node would throw it as well.
  content.on("error", () => undefined);
  const chunks = content[Symbol.asyncIterator]() as AsyncIterator<Uint8Array, undefined>;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const next = await chunks.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value);
    },
    cancel() {
      content.destroy();
    },
  });
}

/** Longest Retry-After that is waited: the hub's rate limits use windows of five minutes. */
const LONGEST_WAIT_MS = 600_000;

/**
 * Retries until an attempt succeeds.
 * @param asked.givenUp the error to throw when `retries` attempts in a row made no progress, or the server asks for too long a wait.
 * @param work one attempt; it calls `progress` when it got closer to the end, even if it throws later.
 */
export async function withRetries<T>(
  settings: TransferSettings,
  asked: {
    givenUp: (last: Interruption, attempts: number) => Error;
    signal?: AbortSignal | undefined;
  },
  work: (progress: () => void) => Promise<T>,
): Promise<T> {
  const { signal } = asked;
  let fruitless = 0;
  for (;;) {
    try {
      return await work(() => {
        fruitless = 0;
      });
    } catch (error) {
      if (!(error instanceof Interruption)) throw error;
      fruitless += 1;
      if (fruitless > settings.retries || error.waitMs > LONGEST_WAIT_MS)
        throw asked.givenUp(error, fruitless);
      const firstMs = settings.retryDelayMs;
      const ms = delayMs({
        attempt: fruitless,
        firstMs,
        retryAfterMs: error.waitMs,
        random: Math.random,
      });
      await wait(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
      signal?.throwIfAborted();
    }
  }
}

/** Error codes of file writes; connections have other codes. */
const CODES = new Set([
  ...["EACCES", "EDQUOT", "EFBIG", "EIO", "EISDIR", "EMFILE", "ENFILE", "ENOENT", "ENOSPC"],
  ...["ENOTDIR", "EPERM", "EROFS"],
]);

/** Whether the disk failed, not the network. */
export function isDiskError(error: unknown): boolean {
  return error instanceof Error && "code" in error && CODES.has(String(error.code));
}
