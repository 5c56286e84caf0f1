import { ConfigError } from "../../base/errors.ts";
import { suggest } from "../../base/nearest.ts";
import { mean, standardError } from "../../base/statistics.ts";
import {
  type Interval,
  bootstrapInterval,
  newcombeInterval,
  wilsonInterval,
} from "../../evaluate/statistics.ts";
import { meanOverRuns } from "./compare-sides.ts";
import { type ComparedRun, type Side, sharedMetrics } from "./compared-run.ts";
import { crossedBootstrap } from "./paired.ts";
import { sharedValues } from "./shared-questions.ts";

/** A published number. */
export interface Published {
  value: number;
  /** Number of its questions; null if unknown. */
  n: number | null;
}

/** Our measurement, for comparison with published numbers. */
export interface Measurement {
  metric: string;
  /** Measured questions, without those on which some run has only errors. */
  n: number;
  leftOut: number;
  value: number;
  /** 95 % interval over questions, and over runs if there are several. */
  ci95: Interval;
  method: "wilson" | "bootstrap" | "crossed bootstrap";
  /** Whether every draw is right or wrong, so that its mean is a share. */
  isShare: boolean;
  /** Standard error of the value. */
  standardError: number;
}

/** Our distance from a published number. */
export interface PublishedGap {
  published: number;
  /** Ours minus published. */
  difference: number;
  /** 95 % interval of the difference, with the published number as exact. */
  ci95: Interval;
  /** Whether the published number is inside our interval. */
  inside: boolean;
  /** 95 % interval with the published number as a sample too; null if its n is unknown or it is no share. */
  twoSample: Interval | null;
}

/**
 * The measurement of one metric over runs.
 * @throws {ConfigError} COMPARE_METRIC when not all runs have it.
 */
export function measurementOf(side: Side, metric: string, seed: number): Measurement {
  const known = sharedMetrics(side.runs);
  if (!known.includes(metric)) {
    throw new ConfigError(
      "COMPARE_METRIC",
      `${side.name}: "${metric}" is not measured in this run. ${suggest(metric, known)}`,
    );
  }
  const all = [...(side.runs[0]?.questions.keys() ?? [])];
  const { ids, left: runs } = sharedValues(side, { name: "", runs: [] }, all, metric);
  const values = meanOverRuns(runs);
  const isShare = side.runs.every((run) =>
    everyDraw(run, metric, (value) => value === 0 || value === 1),
  );
  const single =
    isShare && runs.length === 1 && values.every((value) => value === 0 || value === 1);
  const about = { metric, n: ids.length, leftOut: all.length - ids.length, isShare };
  if (runs.length > 1) {
    const nothing = values.map(() => 0);
    const { difference, ci95, standardError: error } = crossedBootstrap(runs, [nothing], { seed });
    return { ...about, value: difference, ci95, standardError: error, method: "crossed bootstrap" };
  }
  const value = mean(values);
  const rest = { ...about, value, standardError: standardError(values) };
  if (!single) return { ...rest, ci95: bootstrapInterval(values, { seed }), method: "bootstrap" };
  const right = values.filter((each) => each === 1).length;
  return { ...rest, ci95: wilsonInterval(right, values.length), method: "wilson" };
}

/**
 * Ours minus a published number. Where the number of published questions is known and the metric is a share, the interval of
 * two samples: Newcombe's for single draws, else the normal one.
 */
export function gapTo(published: Published, ours: Measurement): PublishedGap {
  const [low, high] = ours.ci95;
  const { value, n } = published;
  return {
    published: value,
    difference: ours.value - value,
    ci95: [low - value, high - value],
    inside: low <= value && value <= high,
    twoSample: n === null || !ours.isShare ? null : twoSampleInterval(ours, value, n),
  };
}

/** Standard normal quantile of 97.5 %. */
const Z95 = 1.959963984540054;

function twoSampleInterval(ours: Measurement, share: number, n: number): Interval {
  if (ours.method === "wilson") {
    return newcombeInterval({ share: ours.value, n: ours.n }, { share, n });
  }
  const half = Z95 * Math.sqrt(ours.standardError ** 2 + (share * (1 - share)) / n);
  const difference = ours.value - share;
  return [difference - half, difference + half];
}

function everyDraw(
  { questions }: ComparedRun,
  metric: string,
  holds: (value: number) => boolean,
): boolean {
  return [...questions.values()].every(({ draws }) =>
    draws.every(({ values: { [metric]: value } }) => value === undefined || holds(value)),
  );
}
