import { z } from "../base/schema.ts";
import type { ReplyTimes, TokenUsage } from "./chat-messages.ts";

/** The price of tokens. */
export const priceSchema = z.strictObject({
  /** Per million prompt tokens. */
  promptPerMillion: z.number().min(0),
  /** Per million completion tokens. */
  completionPerMillion: z.number().min(0),
  /** Currency to show: USD, EUR. */
  currency: z.string().min(1).default("USD"),
});

export type Price = z.output<typeof priceSchema>;

/** Milliseconds, to two percent: half of the requests took at most `p50`. */
export interface Quantiles {
  p50: number;
  p90: number;
  p99: number;
  max: number;
}

export interface MeterReading {
  requests: number;
  failed: number;
  /** Requests answered by the cache, which nothing else here counts. */
  cached: number;
  retries: number;
  promptTokens: number;
  completionTokens: number;
  /** Answers without a token count from the server: they are missing from tokens and cost. */
  uncounted: number;
  /** Null without a price. Excludes failed attempts, which the server may have billed. */
  cost: { amount: number; currency: string } | null;
  /** Null when nothing was streamed. */
  firstTokenMs: Quantiles | null;
  /** Null when nothing was answered. */
  totalMs: Quantiles | null;
}

/** Counts requests in constant memory. */
export interface Meter {
  /** The totals so far. */
  reading(): MeterReading;
}

export interface FilledMeter extends Meter {
  answered(reply: ReplyTimes & { usage: TokenUsage | null }): void;
  cached(): void;
  retried(): void;
  failed(): void;
}

/** @param price null: no cost is shown. */
export function meter(price: Price | null): FilledMeter {
  const counts = { requests: 0, cached: 0, failed: 0, retries: 0 };
  const tokens = { promptTokens: 0, completionTokens: 0, uncounted: 0 };
  const first = histogram();
  const total = histogram();
  return {
    answered({ usage, firstTokenMs, totalMs }) {
      counts.requests += 1;
      total.add(totalMs);
      if (firstTokenMs !== null) first.add(firstTokenMs);
      if (usage === null) tokens.uncounted += 1;
      tokens.promptTokens += usage?.promptTokens ?? 0;
      tokens.completionTokens += usage?.completionTokens ?? 0;
    },
    cached() {
      counts.cached += 1;
    },
    retried() {
      counts.retries += 1;
    },
    failed() {
      counts.failed += 1;
    },
    reading: () => ({
      ...counts,
      ...tokens,
      cost: price === null ? null : { amount: costOf(tokens, price), currency: price.currency },
      firstTokenMs: first.quantiles(),
      totalMs: total.quantiles(),
    }),
  };
}

/**
 * The cost of tokens in the price's currency.
 * @example costOf({ promptTokens: 2000, completionTokens: 500 }, { promptPerMillion: 1, completionPerMillion: 4 }) // 0.004
 */
export function costOf(
  { promptTokens, completionTokens }: TokenUsage,
  { promptPerMillion, completionPerMillion }: Omit<Price, "currency">,
): number {
  return (promptTokens * promptPerMillion + completionTokens * completionPerMillion) / 1e6;
}

/** Ratio of neighbouring bucket limits, as a logarithm: 2 % error. */
const GROWTH = Math.log(1.02);

interface Histogram {
  add(ms: number): void;
  /** Null when empty. */
  quantiles(): Quantiles | null;
}

/** Buckets of equal ratio, as in DDSketch (arXiv 1908.10693): a quantile is its bucket's upper limit, at most the maximum. */
function histogram(): Histogram {
  const buckets = new Map<number, number>();
  let count = 0;
  let max = 0;
  return {
    add(ms) {
      const bucket = Math.ceil(Math.log(Math.max(ms, 0.001)) / GROWTH);
      buckets.set(bucket, (buckets.get(bucket) ?? 0) + 1);
      count += 1;
      max = Math.max(max, ms);
    },
    quantiles() {
      if (count === 0) return null;
      const sorted = [...buckets].sort(([a], [b]) => a - b);
      const at = (share: number): number => {
        let left = Math.ceil(share * count);
        const found = sorted.find(([, held]) => (left -= held) <= 0);
        return Math.min(max, Math.exp((found?.[0] ?? 0) * GROWTH));
      };
      return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max };
    },
  };
}
