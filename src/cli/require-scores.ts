import { ScoreError } from "../base/errors.ts";
import { suggest } from "../base/nearest.ts";
import { usage } from "./usage.ts";

/** `--require "em>=0.5"`: a metric must reach, exceed, or stay at or under a number. */
export interface ScoreRequirement {
  metric: string;
  relation: ">=" | ">" | "<=" | "<";
  bound: number;
}

const holds: Record<ScoreRequirement["relation"], (value: number, bound: number) => boolean> = {
  ">=": (value, bound) => value >= bound,
  ">": (value, bound) => value > bound,
  "<=": (value, bound) => value <= bound,
  "<": (value, bound) => value < bound,
};

/**
 * @param metrics that the command will measure; checked before the work starts, so that a typing error costs no time.
 * @throws {ConfigError} USAGE for another form than `metric>=number`, or an unknown metric.
 * @example parseRequirement("em>=0.5", ["em", "f1"]) // { metric: "em", relation: ">=", bound: 0.5 }
 */
export function parseRequirement(text: string, metrics: readonly string[]): ScoreRequirement {
  const match = /^\s*(?<metric>[^<>=\s]+)\s*(?<relation>>=|<=|>|<)\s*(?<bound>\S+)\s*$/.exec(text);
  const { metric = "", relation = "", bound = "" } = match?.groups ?? {};
  if (match === null || !Number.isFinite(Number(bound)))
    throw usage(
      `--require is ${JSON.stringify(text)}: expected a metric, one of >= > <= <, and a number, e.g. "em>=0.5".`,
    );
  if (!metrics.includes(metric))
    throw usage(
      `--require names "${metric}", which is not measured here. ${suggest(metric, metrics)}`,
    );
  return { metric, relation: relation as ScoreRequirement["relation"], bound: Number(bound) };
}

/**
 * Compares results with the requirements; call it after the results are printed.
 *
 * @param metrics by name; absent, null or NaN: could not be computed.
 * @throws {ScoreError} SCORE_UNAVAILABLE (exit code 6), SCORE_MISSED (exit code 5).
 */
export function requireScores(
  requirements: readonly ScoreRequirement[],
  metrics: Readonly<Record<string, number | null>>,
): void {
  const results = requirements.map((required) => ({
    ...required,
    value: Number.isNaN(metrics[required.metric]) ? null : (metrics[required.metric] ?? null),
  }));
  const unavailable = results.find(({ value }) => value === null);
  if (unavailable !== undefined)
    throw new ScoreError(
      "SCORE_UNAVAILABLE",
      `--require ${unavailable.metric}${unavailable.relation}${unavailable.bound}: ${unavailable.metric} could not be computed, so nothing can be said.`,
    );
  const missed = results.filter(
    ({ value, relation, bound }) => value === null || !holds[relation](value, bound),
  );
  if (missed.length === 0) return;
  const list = missed.map(
    ({ metric, relation, bound, value }) =>
      `${metric} is ${String(value)}, required ${relation} ${bound}`,
  );
  throw new ScoreError("SCORE_MISSED", `${list.join("; ")}.`);
}
