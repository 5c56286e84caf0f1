import { suggest } from "../../base/nearest.ts";

/** A metric of a run's curve: `curve.em.stepsTo(0.6)`. */
export interface CurveMetric {
  /** `em`, or a name of `metrics.jsonl`: `rollout/reward_mean`. */
  of: string;
  figure: keyof typeof CURVE_FIGURES;
  /** x of stepsTo, tokensTo and spikes, n of first and last; 0 where there is none. */
  argument: number;
}

/** What a claim may take of a curve. */
export const CURVE_FIGURES = {
  area: { argument: null, isOfMetric: true },
  first: { argument: "a number of points, e.g. first(3)", isOfMetric: true },
  last: { argument: "a number of points, e.g. last(3)", isOfMetric: true },
  spikes: { argument: "a multiple of the median, e.g. spikes(2)", isOfMetric: false },
  stepsTo: { argument: "the level to reach, e.g. stepsTo(0.6)", isOfMetric: false },
  tokensTo: { argument: "the level to reach, e.g. tokensTo(0.6)", isOfMetric: false },
  collapse: { argument: null, isOfMetric: false },
} as const;

/**
 * Reads a metric path of a curve; null for any other path.
 * @param fail called with the rest of a sentence that begins with the path.
 */
export function parseCurveMetric(
  path: string,
  fail: (sentence: string) => Error,
): CurveMetric | null {
  if (!path.startsWith("curve.")) return null;
  const [, of = "", name = "", argument] =
    /^curve\.(.+)\.([A-Za-z]+)(?:\(([^()]*)\))?$/.exec(path) ?? [];
  if (!isFigure(name)) {
    const known = Object.keys(CURVE_FIGURES);
    throw fail(
      `is no figure of a curve: expected curve.METRIC.FIGURE, e.g. curve.em.area. ${suggest(name, known)}`,
    );
  }
  const expected = CURVE_FIGURES[name].argument;
  const isNumber = argument !== undefined && argument.trim() !== "" && isFinite(Number(argument));
  if (expected === null && argument !== undefined) throw fail(`has an argument; ${name} has none.`);
  if (expected !== null && !isNumber) throw fail(`needs ${expected}.`);
  const value = Number(argument ?? 0);
  if ((name === "first" || name === "last") && !(Number.isInteger(value) && value > 0))
    throw fail(`needs ${expected}.`);
  return { of, figure: name, argument: value };
}

function isFigure(name: string): name is CurveMetric["figure"] {
  return Object.hasOwn(CURVE_FIGURES, name);
}
