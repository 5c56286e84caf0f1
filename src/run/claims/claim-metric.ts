import { suggest } from "../../base/nearest.ts";
import { measureNames, measuresOf } from "../../evaluate/measures.ts";
import { metricNames } from "../../evaluate/evaluation-summary.ts";
import { isShare } from "../../evaluate/metrics/metric-columns.ts";
import { rowMetrics } from "../../evaluate/metrics/index.ts";
import { setsOf } from "../evaluation-sets.ts";
import type { Settings } from "../settings/settings-schema.ts";
import { stageList } from "../settings/stages.ts";

/** A metric of a run's curve: `curve.em.stepsTo(0.6)`. */
export interface CurveMetric {
  /** `em`, or a name of `metrics.jsonl`: `rollout/reward_mean`. */
  of: string;
  figure: keyof typeof CURVE_FIGURES;
  /** x of stepsTo, tokensTo and spikes, n of first and last; 0 where there is none. */
  argument: number;
}

const CURVE_FIGURES = {
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

/** Whether a claim's metric lies between 0 and 1. */
export function isShareMetric(path: string): boolean {
  const curve = parseCurveMetric(path, (sentence) => new Error(`${path} ${sentence}`));
  if (curve !== null) return CURVE_FIGURES[curve.figure].isOfMetric && isShare(curve.of);
  return isShare(path.split(".").at(-1) ?? path);
}

/**
 * Checks a metric against what a run with these settings measures, as far as settings tell. Names in `metrics.jsonl` and facts of stages
 * are known after the first run only.
 * @param fail called with the rest of a sentence that begins with the path.
 */
export function checkMetricPath(
  path: string,
  settings: Settings,
  fail: (sentence: string) => Error,
): void {
  const curve = parseCurveMetric(path, fail);
  if (curve !== null) {
    checkCurve(curve, settings, fail);
    return;
  }
  const stages = stageList(settings.stages ?? []).map(({ name }) => `stages.${name}.`);
  const evaluations = [
    ...evaluationPaths("eval", settings),
    ...setsOf(settings).flatMap(({ set, settings: of }) => evaluationPaths(`eval.sets.${set}`, of)),
  ];
  const known = [
    ...evaluations.flatMap(({ at, names }) => names.map((name) => `${at}.${name}`)),
    ...["steps", "wallSeconds", ...stages],
  ];
  const openEnded = [...evaluations.map(({ at }) => `${at}.groups.`), ...stages];
  if (known.includes(path) || openEnded.some((each) => path.startsWith(each))) return;
  throw fail(`is no number of a run's results. ${suggest(path, [...known, "curve.em.area"])}`);
}

/** Where results have an evaluation before and after training, and its metrics. */
function evaluationPaths(at: string, settings: Settings): { at: string; names: string[] }[] {
  const own = measureNames(measuresOf(settings));
  const names = ["n", ...metricNames(settings.evaluation.samplesPerTask), ...own];
  return ["before", "after"].map((when) => ({ at: `${at}.${when}`, names }));
}

function checkCurve(
  { of, figure }: CurveMetric,
  settings: Settings,
  fail: (sentence: string) => Error,
): void {
  const isEvaluated = isEvaluationMetric(of);
  const rewards = settings.rewards.map(({ name, as = name }) => `reward/${as}`);
  const measured = [...rowMetrics.names, ...measureNames(measuresOf(settings))];
  if (isEvaluated && !measured.includes(of))
    throw fail(`is the curve of no metric. ${suggest(of, measured)}`);
  if (of.startsWith("reward/") && !rewards.includes(of))
    throw fail(`is the curve of no reward of the recipe. ${suggest(of, rewards)}`);
  if (figure === "collapse" && isEvaluated && of !== "em")
    throw fail(`has no alarm that judges ${of}; take eval/em, or a metric of the training.`);
  const isMeasured = settings.evaluation.during !== undefined;
  if ((isEvaluated || of.startsWith("eval/")) && !isMeasured) {
    throw fail(
      "needs held-out evaluations during training: set evaluation.during, e.g. { every: 5 }.",
    );
  }
}

/** Whether a curve consists of held-out evaluations, question by question: the names in `metrics.jsonl` have a slash. */
export function isEvaluationMetric(name: string): boolean {
  return !name.includes("/");
}

function isFigure(name: string): name is CurveMetric["figure"] {
  return Object.hasOwn(CURVE_FIGURES, name);
}
