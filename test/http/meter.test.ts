import { describe, expect, it } from "vitest";
import { costOf, meter } from "../../src/http/meter.ts";

const reply = (totalMs: number, firstTokenMs: number | null = null) => ({
  totalMs,
  firstTokenMs,
  usage: { promptTokens: 1000, completionTokens: 100 },
});

describe("a meter", () => {
  it("adds up requests, tokens and what they cost", () => {
    const metered = meter({ promptPerMillion: 2.5, completionPerMillion: 10, currency: "EUR" });
    metered.answered(reply(10));
    metered.answered(reply(10));
    metered.answered({ ...reply(10), usage: null });
    metered.retried();
    metered.failed();
    expect(metered.reading()).toEqual({
      requests: 3,
      cached: 0,
      failed: 1,
      retries: 1,
      uncounted: 1,
      promptTokens: 2000,
      completionTokens: 200,
      // 2000 × 2.5 + 200 × 10 = 7000 millionths.
      cost: { amount: 0.007, currency: "EUR" },
      firstTokenMs: null,
      totalMs: { p50: 10, p90: 10, p99: 10, max: 10 },
    });
  });

  it("knows no cost without a price and no times before anything was answered", () => {
    expect(meter(null).reading()).toMatchObject({ cost: null, totalMs: null, firstTokenMs: null });
    expect(
      costOf(
        { promptTokens: 2000, completionTokens: 500 },
        { promptPerMillion: 1, completionPerMillion: 4 },
      ),
    ).toBe(0.004);
  });

  it("gives quantiles to two percent, the largest exactly", () => {
    const metered = meter(null);
    for (let ms = 1; ms <= 1000; ms++) metered.answered(reply(ms, ms / 10));
    const { totalMs, firstTokenMs } = metered.reading();
    for (const [found, exact] of [
      [totalMs!.p50, 500],
      [totalMs!.p90, 900],
      [totalMs!.p99, 990],
      [firstTokenMs!.p50, 50],
    ] as const) {
      expect(found).toBeGreaterThanOrEqual(exact);
      expect(found).toBeLessThan(exact * 1.02);
    }
    expect(totalMs!.max).toBe(1000);
    metered.answered(reply(0));
    expect(metered.reading().totalMs!.max).toBe(1000);
  });
});
