import type { Trajectory } from "../trajectory/trajectory.ts";
import { mean } from "../base/statistics.ts";

/** How long the parts of a question took, over the questions asked in this run; they differ from run to run. */
export interface EvaluationTimings {
  seconds: number;
  questionsPerSecond: number;
  /** Waiting for the policy, milliseconds per question; null where none was asked. */
  model: Spread | null;
  /** Until a server began its first message; null where it was not told. */
  firstToken: Spread | null;
  search: Spread | null;
}

type Spread = { mean: number; p50: number; p90: number; max: number };

/** Collects timings of trajectories. */
export interface TimingsCollector {
  add(trajectory: Trajectory): void;
  timings(seconds: number): EvaluationTimings;
}

export function openTimings(): TimingsCollector {
  const values = {
    modelMs: [] as number[],
    firstTokenMs: [] as number[],
    searchMs: [] as number[],
  };
  let asked = 0;
  return {
    add({ timings = {} }) {
      asked += 1;
      for (const part of ["modelMs", "firstTokenMs", "searchMs"] as const) {
        const value = timings[part];
        if (value !== undefined) values[part].push(value);
      }
    },
    timings: (seconds) => ({
      seconds,
      questionsPerSecond: asked / seconds,
      model: spread(values.modelMs),
      firstToken: spread(values.firstTokenMs),
      search: spread(values.searchMs),
    }),
  };
}

function spread(values: readonly number[]): Spread | null {
  if (values.length === 0) return null;
  const sorted = Float64Array.from(values).sort();
  const at = (share: number): number => sorted[Math.ceil(share * sorted.length) - 1] ?? 0;
  return { mean: mean(values), p50: at(0.5), p90: at(0.9), max: at(1) };
}
