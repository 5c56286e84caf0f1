import { describe, expect, it } from "vitest";
import type { Failure } from "../../src/http/exchange.ts";
import { delayMs, isRetried, retryAfterMs } from "../../src/http/retry.ts";

const status = (code: number): Failure => ({
  kind: "status",
  status: code,
  body: "",
  headers: new Headers(),
});

describe("retries", () => {
  it("tries again after a lost connection, a timeout and the statuses that pass", () => {
    expect(isRetried({ kind: "timeout", timeoutMs: 1 })).toBe(true);
    expect(isRetried({ kind: "unreachable", detail: "", cause: null, isStale: false })).toBe(true);
    expect(isRetried({ kind: "too-large", maxReplyBytes: 1 })).toBe(false);
    const statuses = [301, 400, 401, 404, 408, 422, 425, 429, 500, 501, 502, 503, 504, 505];
    const retried = statuses.filter((code) => isRetried(status(code)));
    expect(retried).toEqual([408, 425, 429, 500, 502, 503, 504]);
  });

  it("waits a random part of a time that doubles, up to half a minute", () => {
    const longest = [1, 2, 3, 4, 10].map((attempt) =>
      delayMs({ attempt, firstMs: 500, retryAfterMs: 0, random: () => 1 }),
    );
    expect(longest).toEqual([500, 1000, 2000, 4000, 30_000]);
    expect(delayMs({ attempt: 3, firstMs: 500, retryAfterMs: 0, random: () => 0.25 })).toBe(500);
  });

  it("adds its jitter to the time that the server asks for", () => {
    expect(delayMs({ attempt: 1, firstMs: 100, retryAfterMs: 7000, random: () => 0.5 })).toBe(7050);
  });

  it("reads Retry-After in seconds and as a date", () => {
    const now = Date.UTC(2026, 0, 1);
    expect(retryAfterMs("3", now)).toBe(3000);
    expect(retryAfterMs("Thu, 01 Jan 2026 00:00:05 GMT", now)).toBe(5000);
    expect(retryAfterMs("Wed, 31 Dec 2025 00:00:00 GMT", now)).toBe(0);
    expect(retryAfterMs("soon", now)).toBe(0);
    expect(retryAfterMs(null, now)).toBe(0);
  });
});
