import type { Failure } from "./exchange.ts";

const RETRIED_STATUSES = new Set([408, 425, 429]);

/** Upper limit of the growing delay. */
const MAX_DELAY_MS = 30_000;

/**
 * Whether a retry may succeed: no connection, a cut reply, a timeout, 408, 425, 429 or 5xx (not 501 and 505, which are
 * permanent).
 */
export function isRetried(failure: Failure): boolean {
  if (["unreachable", "cut", "timeout"].includes(failure.kind)) return true;
  if (failure.kind !== "status") return false;
  const { status } = failure;
  return RETRIED_STATUSES.has(status) || (status >= 500 && status !== 501 && status !== 505);
}

/**
 * Milliseconds before the next attempt: full jitter, uniform between 0 and first · 2^(attempt − 1), so that clients that
 * failed together do not return together. A Retry-After is waited in full, plus the jitter.
 *
 * @param attempt the number of the failed attempt, from 1.
 * @param random uniform in [0, 1).
 *
 * Source: M. Brooker, "Exponential Backoff and Jitter", AWS Architecture Blog, 2015.
 * @example delayMs({ attempt: 3, firstMs: 500, retryAfterMs: 0, random: () => 0.5 }) // 1000
 */
export function delayMs(settings: {
  attempt: number;
  firstMs: number;
  retryAfterMs: number;
  random: () => number;
}): number {
  const { attempt, firstMs, retryAfterMs, random } = settings;
  return retryAfterMs + Math.round(random() * Math.min(firstMs * 2 ** (attempt - 1), MAX_DELAY_MS));
}

/**
 * Milliseconds of a Retry-After header: whole seconds, or a date. 0 when absent, past or invalid.
 * @param nowMs Unix time.
 */
export function retryAfterMs(header: string | null, nowMs: number): number {
  if (header === null) return 0;
  if (/^\s*\d+\s*$/.test(header)) return Number(header) * 1000;
  const date = Date.parse(header);
  return Number.isNaN(date) ? 0 : Math.max(0, date - nowMs);
}
