import { errorMessage } from "../base/errors.ts";

/** What a server answered. */
export interface HttpReply {
  status: number;
  headers: Headers;
  /** The body, decoded as UTF-8. */
  text: string;
  /** From sending to the end of the reply, in milliseconds. */
  totalMs: number;
}

/** Why one attempt got no usable reply. */
export type Failure =
  | { kind: "timeout"; timeoutMs: number }
  | { kind: "unreachable"; detail: string; cause: unknown }
  | { kind: "status"; status: number; body: string; headers: Headers }
  | { kind: "too-large"; maxReplyBytes: number };

/** Bounds of one attempt. */
export interface ExchangeLimits {
  timeoutMs: number;
  maxReplyBytes: number;
  signal?: AbortSignal | undefined;
}

/**
 * One attempt over Node's fetch, its whole reply read. Redirects are not followed: fetch would send keys on to another
 * host in every header but Authorization.
 *
 * @throws the signal's reason when the caller aborts; every other failure is returned.
 */
export async function exchange(
  url: URL,
  init: RequestInit,
  { timeoutMs, maxReplyBytes, signal }: ExchangeLimits,
): Promise<HttpReply | Failure> {
  const sent = performance.now();
  const ending = new AbortController();
  const onAbort = (): void => {
    ending.abort(signal?.reason);
  };
  const tooLate = new Error("no answer in time");
  const timer = setTimeout(() => {
    ending.abort(tooLate);
  }, timeoutMs);
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    signal?.throwIfAborted();
    const response = await fetch(url, { ...init, redirect: "manual", signal: ending.signal });
    const text = await bodyText(response, maxReplyBytes);
    const totalMs = performance.now() - sent;
    if (text !== null) {
      return { status: response.status, headers: response.headers, text, totalMs };
    }
    ending.abort();
    return { kind: "too-large", maxReplyBytes };
  } catch (error) {
    signal?.throwIfAborted();
    if (ending.signal.reason === tooLate || isNodeTimeout(error))
      return { kind: "timeout", timeoutMs };
    return { kind: "unreachable", detail: connectionProblem(error), cause: error };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}

/** Null when it is larger than allowed; the rest is then not read. */
async function bodyText(response: Response, maxReplyBytes: number): Promise<string | null> {
  if (response.body === null) return "";
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > maxReplyBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Why fetch failed: it says "fetch failed" or "terminated"; its cause says why, of several addresses of one host each on its own. */
export function connectionProblem(error: unknown): string {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  if (cause instanceof AggregateError && cause.errors.length > 0) {
    return cause.errors.map(errorMessage).join("; ");
  }
  return errorMessage(cause);
}

function isNodeTimeout(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  return /^UND_ERR_\w+_TIMEOUT$/.test(code);
}
