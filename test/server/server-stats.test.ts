import { describe, expect, it } from "vitest";
import { statsRecorder } from "../../src/server/server-stats.ts";

describe("server statistics", () => {
  it("counts requests by how they ended", () => {
    const stats = statsRecorder();
    for (const outcome of [
      "answered",
      "failed",
      "rejected",
      "rejected",
      "invalid",
      "aborted",
    ] as const) {
      stats.record(outcome, 5);
    }
    stats.addQueries(12);
    expect(stats.read()).toMatchObject({
      requests: 6,
      queries: 12,
      errors: 1,
      rejected: 2,
      invalid: 1,
      aborted: 1,
      latencyMs: { p50: 5, p90: 5, p99: 5 },
    });
  });

  it("gives percentiles by nearest rank, of answered requests alone", () => {
    const stats = statsRecorder();
    expect(stats.read().latencyMs).toBeNull();
    for (let ms = 200; ms >= 1; ms--) stats.record("answered", ms);
    stats.record("failed", 1e6);
    expect(stats.read().latencyMs).toEqual({ p50: 100, p90: 180, p99: 198 });
  });

  it("keeps the latest 4 096 latencies", () => {
    const stats = statsRecorder();
    for (let i = 0; i < 5000; i++) stats.record("answered", 1000);
    for (let i = 0; i < 4096; i++) stats.record("answered", 2);
    expect(stats.read()).toMatchObject({ requests: 9096, latencyMs: { p50: 2, p99: 2 } });
  });

  it("tells clients to come back after what answers lately took, 1 to 60 seconds", () => {
    const stats = statsRecorder();
    expect(stats.retryAfterSeconds()).toBe(1);
    stats.record("answered", 2500);
    expect(stats.retryAfterSeconds()).toBe(3);
    for (let i = 0; i < 200; i++) stats.record("answered", 1e6);
    expect(stats.retryAfterSeconds()).toBe(60);
  });
});
