/** Result of a request for passages. */
export type Outcome = "answered" | "invalid" | "rejected" | "failed" | "aborted";

/** The reply of `GET /stats`: counts since the start. */
export interface ServerStats {
  /** All requests for passages. */
  requests: number;
  /** Answered queries. */
  queries: number;
  /** Failed searches, deadlines, requests aborted by the shutdown: statuses of 500 and above. */
  errors: number;
  /** Status 429: the server was full. */
  rejected: number;
  /** Status 401, 413, 422: invalid requests. */
  invalid: number;
  /** The client closed the connection. */
  aborted: number;
  /** Running searches. */
  inFlight: number;
  /** Waiting requests: for their turn, for the rest of their body, for their client to read. */
  queued: number;
  /** From arrival to the reply's last byte, over the latest 4 096 answered requests; null before the first. */
  latencyMs: { p50: number; p90: number; p99: number } | null;
  uptimeSeconds: number;
  rssBytes: number;
}

/** Counts requests. */
export interface StatsRecorder {
  /** @param latencyMs from arrival to end. */
  record(outcome: Outcome, latencyMs: number): void;
  addQueries(count: number): void;
  /** Suggested wait in whole seconds after a rejection: the recent answer time, 1 to 60. */
  retryAfterSeconds(): number;
  read(): Omit<ServerStats, "inFlight" | "queued">;
}

const KEPT = 4096;

/** An empty recorder with constant memory. */
export function statsRecorder(): StatsRecorder {
  const start = performance.now();
  const counts: Record<Outcome, number> = {
    answered: 0,
    invalid: 0,
    rejected: 0,
    failed: 0,
    aborted: 0,
  };
  const latencies = new Float64Array(KEPT);
  let queries = 0;
  let typicalMs = 0;
  return {
    record(outcome, latencyMs) {
      if (outcome === "answered") {
        latencies[counts.answered % KEPT] = latencyMs;
        typicalMs += (latencyMs - typicalMs) / Math.min(counts.answered + 1, 64);
      }
      counts[outcome] += 1;
    },
    addQueries(count) {
      queries += count;
    },
    retryAfterSeconds: () => Math.min(Math.max(Math.ceil(typicalMs / 1000), 1), 60),
    read: () => ({
      requests: Object.values(counts).reduce((sum, count) => sum + count, 0),
      queries,
      errors: counts.failed,
      rejected: counts.rejected,
      invalid: counts.invalid,
      aborted: counts.aborted,
      latencyMs: percentiles(latencies.slice(0, counts.answered)),
      uptimeSeconds: round((performance.now() - start) / 1000),
      rssBytes: process.memoryUsage.rss(),
    }),
  };
}

/** Nearest-rank percentiles. */
function percentiles(values: Float64Array): ServerStats["latencyMs"] {
  values.sort();
  const at = (share: number): number =>
    round(values[Math.ceil(share * values.length) - 1] ?? Number.NaN);
  return values.length === 0 ? null : { p50: at(0.5), p90: at(0.9), p99: at(0.99) };
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
