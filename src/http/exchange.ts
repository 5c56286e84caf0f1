import type { Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { errorMessage } from "../base/errors.ts";
import { loadUndici } from "./load-undici.ts";
import { isStaleConnection, type Keeping, routeTo } from "./route.ts";

export interface ReplyHead {
  status: number;
  /** Names are case-insensitive; repeated headers are joined by commas. */
  headers: Pick<Headers, "get">;
}

export interface HttpReply extends ReplyHead {
  /** The body, decoded as UTF-8; empty when a `BodyReader` read it. */
  text: string;
  /** From sending to the end of the reply, in milliseconds. */
  totalMs: number;
}

/**
 * Why one attempt got no usable reply. `isStale`: the server had already closed the kept-alive connection that the request
 * used.
 */
export type Failure =
  | { kind: "timeout"; timeoutMs: number }
  | { kind: "unreachable"; detail: string; cause: unknown; isStale: boolean }
  | { kind: "cut"; detail: string; cause?: unknown }
  | { kind: "status"; status: number; body: string; headers: Pick<Headers, "get"> }
  | { kind: "garbled"; body: string }
  | { kind: "too-large"; maxReplyBytes: number };

export interface BodyReader {
  /**
   * @param bytes any part of the body, split anywhere.
   * @param afterMs milliseconds since the request was sent.
   * @returns whether the reply is complete; later bytes are not read.
   */
  push(bytes: Uint8Array, afterMs: number): boolean;
  /** Called when the reply is complete, or its body has ended or was cut: the failure, or null for a valid reply. */
  failure(): Failure | null;
  /** Only the end of the body tells that it is complete: a body that is cut is a failure. */
  needsEnd?: true;
}

export interface Outgoing {
  method: "GET" | "POST";
  headers: Readonly<Record<string, string>>;
  /** Text, or bytes. */
  body: string | Uint8Array | null;
}

export interface ExchangeLimits {
  timeoutMs: number;
  /** After decompression. */
  maxReplyBytes: number;
  signal?: AbortSignal | undefined;
  keeping?: Keeping;
  /** Reads the body; null or absent: it is collected as text. */
  reader?: ((head: ReplyHead) => BodyReader | null) | undefined;
}

/** How long the rest of a complete reply may take before its connection is closed. */
const DRAIN_MS = 1000;

/**
 * One attempt with undici, including the whole reply: 1.6 times the requests of node:http in half the processor time. It
 * does not follow redirects, which would send keys to another host.
 *
 * @throws the signal's reason when the caller aborts; every other failure is returned.
 */
export function exchange(
  url: URL,
  { method, headers, body }: Outgoing,
  limits: ExchangeLimits,
): Promise<HttpReply | Failure> {
  const { timeoutMs, signal, keeping } = limits;
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason as Error);
      return;
    }
    const { dispatcher, target, proxy } = routeTo(url, keeping);
    const sent = performance.now();
    let isSettled = false;
    let isComplete = false;
    let cancel: (() => void) | null = null;
    let receiver: Receiver | null = null;
    const settle = (outcome: HttpReply | Failure | null): void => {
      if (isSettled) return;
      isSettled = true;
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
      if (outcome === null) reject(signal?.reason as Error);
      else resolve(outcome);
      if (outcome === null || "kind" in outcome) cancel?.();
      else if (!isComplete) setTimeout(() => cancel?.(), DRAIN_MS).unref();
    };
    const onAbort = (): void => settle(null);
    const timer = setTimeout(settle, timeoutMs, { kind: "timeout", timeoutMs });
    signal?.addEventListener("abort", onAbort, { once: true });
    dispatcher.dispatch(
      {
        origin: target.origin,
        path: target.path,
        method,
        body,
        headers: { ...DEFAULT_HEADERS, ...headers, ...target.headers },
      },
      {
        onConnect(abort) {
          cancel = abort;
          if (isSettled) abort();
        },
        onHeaders(status, raw) {
          if (status >= 200) receiver = receive(headOf(status, raw), { ...limits, sent }, settle);
          return true;
        },
        onData(chunk) {
          receiver?.take(chunk);
          return true;
        },
        onComplete() {
          isComplete = true;
          receiver?.end();
        },
        onError(cause) {
          if (receiver === null) settle(unreachable(cause, proxy));
          else receiver.cut(cause);
        },
      },
    );
  });
}

/** A proxy that refuses a tunnel sends a status, which says more than the failed connection. */
function unreachable(cause: Error, proxy: string | null): Failure {
  const status = /^Proxy response \((\d+)\)/.exec(cause.message)?.[1];
  if (status !== undefined)
    return { kind: "status", status: Number(status), body: "", headers: new Headers() };
  const isStale = isStaleConnection(cause);
  return { kind: "unreachable", detail: connectionProblem(cause, proxy), cause, isStale };
}

const DEFAULT_HEADERS = { "accept-encoding": "gzip, deflate, br", "user-agent": "agentrl" };

interface Receiver {
  take(chunk: Buffer): void;
  end(): void;
  cut(cause: unknown): void;
}

/** @param settle called once, with the reply or its failure. */
function receive(
  head: ReplyHead,
  { maxReplyBytes, reader: open, sent }: ExchangeLimits & { sent: number },
  settle: (outcome: HttpReply | Failure) => void,
): Receiver {
  const reader = open?.(head) ?? null;
  const chunks: Buffer[] = [];
  let bytes = 0;
  let isDone = false;
  const finish = (failure: Failure | null): void => {
    if (isDone) return;
    isDone = true;
    const text = chunks.length === 1 ? String(chunks[0]) : Buffer.concat(chunks).toString("utf8");
    settle(failure ?? { ...head, text, totalMs: performance.now() - sent });
  };
  const take = (chunk: Buffer): void => {
    if (isDone) return;
    bytes += chunk.length;
    if (bytes > maxReplyBytes) finish({ kind: "too-large", maxReplyBytes });
    else if (reader === null) chunks.push(chunk);
    else if (reader.push(chunk, performance.now() - sent)) finish(reader.failure());
  };
  const end = (): void => finish(reader?.failure() ?? null);
  const cut = (cause: unknown): void => {
    // A stream with its end marker is complete, even if its connection fails afterwards.
    const isWhole = !isDone && reader?.needsEnd !== true && reader?.failure() === null;
    finish(isWhole ? null : { kind: "cut", detail: errorMessage(cause), cause });
  };
  const unpack = decompressor(head.headers.get("content-encoding"));
  if (unpack === null) return { take, end, cut };
  unpack.on("data", take).on("end", end).on("error", cut);
  return { take: (chunk) => unpack.write(chunk), end: () => unpack.end(), cut };
}

function headOf(status: number, raw: Buffer[]): ReplyHead {
  const headers = loadUndici().util.parseHeaders(raw);
  const get = (name: string): string | null => {
    const value = headers[name.toLowerCase()];
    return Array.isArray(value) ? value.join(", ") : (value ?? null);
  };
  return { status, headers: { get } };
}

/** Decompresses a body; null when it is not compressed. */
export function decompressor(encoding: string | null | undefined): Transform | null {
  const name = encoding?.trim().toLowerCase();
  if (name === "gzip" || name === "x-gzip") return createGunzip();
  if (name === "deflate") return createInflate();
  return name === "br" ? createBrotliDecompress() : null;
}

/**
 * Why a connection failed; each address of a host has its own error.
 * @param proxy the proxy in use, null for none.
 */
export function connectionProblem(error: unknown, proxy: string | null): string {
  const isSeveral = error instanceof AggregateError && error.errors.length > 0;
  const problem = isSeveral ? error.errors.map(errorMessage).join("; ") : errorMessage(error);
  return proxy === null ? problem : `${problem} (over the proxy ${proxy} from the environment)`;
}
