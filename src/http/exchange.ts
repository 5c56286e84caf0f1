import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { errorMessage } from "../base/errors.ts";
import { routeTo } from "./route.ts";

/** What is known of a reply before its body. */
export interface ReplyHead {
  status: number;
  /** Names in any case; several of one name joined by commas. */
  headers: Pick<Headers, "get">;
}

/** What a server answered. */
export interface HttpReply extends ReplyHead {
  /** The body, decoded as UTF-8; empty where a `BodyReader` took it. */
  text: string;
  /** From sending to the end of the reply, in milliseconds. */
  totalMs: number;
}

/**
 * Why one attempt got no usable reply. `isStale`: it went over the connection of an earlier request, which the server had closed
 * meanwhile.
 */
export type Failure =
  | { kind: "timeout"; timeoutMs: number }
  | { kind: "unreachable"; detail: string; cause: unknown; isStale: boolean }
  | { kind: "cut"; detail: string; cause?: unknown }
  | { kind: "status"; status: number; body: string; headers: Pick<Headers, "get"> }
  | { kind: "garbled"; body: string }
  | { kind: "too-large"; maxReplyBytes: number };

/** Takes the body of a reply as it comes. */
export interface BodyReader {
  /**
   * @param bytes any part of the body, cut anywhere.
   * @param afterMs milliseconds since the request was sent.
   * @returns whether the reply is complete; what may follow is not read.
   */
  push(bytes: Uint8Array, afterMs: number): boolean;
  /** Asked when the reply is complete or the body has ended, or was cut: why it is no reply, null when it is one. */
  failure(): Failure | null;
}

/** What is sent. */
export interface Outgoing {
  method: "GET" | "POST";
  headers: Readonly<Record<string, string>>;
  body: string | null;
}

/** Bounds of one attempt. */
export interface ExchangeLimits {
  timeoutMs: number;
  /** Decompressed. */
  maxReplyBytes: number;
  signal?: AbortSignal | undefined;
  /** Over a connection of its own, which is closed after it. */
  isAlone?: boolean;
  /** Who takes the body; null or absent: it is gathered as text. */
  reader?: ((head: ReplyHead) => BodyReader | null) | undefined;
}

/** How long the rest of a reply that is complete may take before its connection is closed. */
const DRAIN_MS = 1000;

/**
 * One attempt over node:http, its whole reply read: a third of the time that Node's fetch takes, and no limit of its own on a
 * silent server. Redirects are not followed: they would carry keys to another host.
 *
 * @throws the signal's reason when the caller aborts; every other failure is returned.
 */
export function exchange(
  url: URL,
  { method, headers, body }: Outgoing,
  limits: ExchangeLimits,
): Promise<HttpReply | Failure> {
  const { timeoutMs, signal, isAlone = false } = limits;
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason as Error);
      return;
    }
    const sent = performance.now();
    const { request, agent, proxy } = routeTo(url, isAlone);
    const asking = request(url, { method, headers: { ...DEFAULT_HEADERS, ...headers }, agent });
    const over = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };
    // Only what settles first counts: a socket that is destroyed reports that too.
    const fail = (failure: Failure): void => {
      over();
      resolve(failure);
      asking.destroy();
    };
    const onAbort = (): void => {
      over();
      reject(signal?.reason as Error);
      asking.destroy();
    };
    const timer = setTimeout(fail, timeoutMs, { kind: "timeout", timeoutMs });
    signal?.addEventListener("abort", onAbort, { once: true });
    asking.on("error", (cause: NodeJS.ErrnoException) => {
      const isStale = asking.reusedSocket && /^(ECONNRESET|EPIPE)$/.test(cause.code ?? "");
      fail({ kind: "unreachable", detail: connectionProblem(cause, proxy), cause, isStale });
    });
    asking.on("response", (response) => {
      receive(response, { ...limits, sent }, (outcome) => {
        if ("kind" in outcome) {
          fail(outcome);
          return;
        }
        over();
        resolve(outcome);
        if (!response.complete) setTimeout(() => asking.destroy(), DRAIN_MS).unref();
      });
    });
    asking.end(body);
  });
}

const DEFAULT_HEADERS = { "accept-encoding": "gzip, deflate, br", "user-agent": "agentrl" };

/** Reads a body and says once what came of it. */
function receive(
  response: IncomingMessage,
  { maxReplyBytes, reader: open, sent }: ExchangeLimits & { sent: number },
  settle: (outcome: HttpReply | Failure) => void,
): void {
  const head = { status: response.statusCode ?? 0, headers: headersOf(response) };
  const reader = open?.(head) ?? null;
  const chunks: Buffer[] = [];
  let bytes = 0;
  let settled = false;
  const finish = (failure: Failure | null): void => {
    if (settled) return;
    settled = true;
    const text = chunks.length === 1 ? String(chunks[0]) : Buffer.concat(chunks).toString("utf8");
    settle(failure ?? { ...head, text, totalMs: performance.now() - sent });
  };
  const cut = (cause: unknown): void => {
    // A reply that had said its end is complete, however its connection ends.
    const isWhole = !settled && reader !== null && reader.failure() === null;
    finish(isWhole ? null : { kind: "cut", detail: errorMessage(cause), cause });
  };
  const body = decompressed(response);
  response.on("error", cut);
  if (body !== response) body.on("error", cut);
  body.on("data", (chunk: Buffer) => {
    if (settled) return;
    bytes += chunk.length;
    if (bytes > maxReplyBytes) finish({ kind: "too-large", maxReplyBytes });
    else if (reader === null) chunks.push(chunk);
    else if (reader.push(chunk, performance.now() - sent)) finish(reader.failure());
  });
  body.on("end", () => {
    finish(reader?.failure() ?? null);
  });
}

function headersOf({ headers }: IncomingMessage): Pick<Headers, "get"> {
  return {
    get: (name) => {
      const value = headers[name.toLowerCase()];
      return Array.isArray(value) ? value.join(", ") : (value ?? null);
    },
  };
}

/** The body of a reply as it was before the server compressed it. */
export function decompressed(response: IncomingMessage): Readable {
  const encoding = response.headers["content-encoding"]?.trim().toLowerCase();
  if (encoding === "gzip" || encoding === "x-gzip") return response.pipe(createGunzip());
  if (encoding === "deflate") return response.pipe(createInflate());
  return encoding === "br" ? response.pipe(createBrotliDecompress()) : response;
}

/**
 * Why there was no connection, or none any more; of several addresses of one host each fails on its own.
 * @param proxy that the connection was to go over, null for none.
 */
export function connectionProblem(error: unknown, proxy: string | null): string {
  const isSeveral = error instanceof AggregateError && error.errors.length > 0;
  const problem = isSeveral ? error.errors.map(errorMessage).join("; ") : errorMessage(error);
  return proxy === null
    ? problem
    : `${problem} (over the proxy ${proxy} that the environment names)`;
}
