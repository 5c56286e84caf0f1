import { z } from "../base/schema.ts";
import type { ReplyTimes, TokenUsage } from "./chat-messages.ts";

/** What tokens cost. */
export const priceSchema = z.strictObject({
  /** Of a million tokens of prompts. */
  promptPerMillion: z.number().min(0),
  /** Of a million tokens of completions. */
  completionPerMillion: z.number().min(0),
  /** As it shall be shown: USD, EUR. */
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

/** What a server was asked so far, and what it took. */
export interface MeterReading {
  /** Requests that were answered. */
  requests: number;
  /** Requests that were given up. */
  failed: number;
  /** Attempts beyond the first. */
  retries: number;
  promptTokens: number;
  completionTokens: number;
  /** Answers whose tokens the server did not count: they are missing from tokens and cost. */
  uncounted: number;
  /** Null where no price was given. Failed attempts may have been billed and are not in it. */
  cost: { amount: number; currency: string } | null;
  /** Null where nothing was streamed. */
  firstTokenMs: Quantiles | null;
  /** Null where nothing was answered. */
  totalMs: Quantiles | null;
}

/** Counts as requests are made; its size does not grow with their number. */
export interface Meter {
  /** Everything so far. */
  reading(): MeterReading;
}

/** A meter, as its client fills it. */
export interface FilledMeter extends Meter {
  answered(reply: ReplyTimes & { usage: TokenUsage | null }): void;
  retried(): void;
  failed(): void;
}

/** @param price null: no cost is shown. */
export function meter(price: Price | null): FilledMeter {
  const counts = { requests: 0, failed: 0, retries: 0 };
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
 * What tokens cost, in the price's currency.
 * @example costOf({ promptTokens: 2000, completionTokens: 500 }, { promptPerMillion: 1, completionPerMillion: 4 }) // 0.004
 */
export function costOf(
  { promptTokens, completionTokens }: TokenUsage,
  { promptPerMillion, completionPerMillion }: Omit<Price, "currency">,
): number {
  return (promptTokens * promptPerMillion + completionTokens * completionPerMillion) / 1e6;
}

/** Each bucket ends 2 % above the one before. */
const GROWTH = Math.log(1.02);

interface Histogram {
  add(ms: number): void;
  /** Null where nothing was added. */
  quantiles(): Quantiles | null;
}

/** Buckets of equal ratio, as in DDSketch (arXiv 1908.10693): a quantile is its bucket's upper end, never above the maximum. */
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
