import { suggest } from "../../base/nearest.ts";
import { metricNames } from "../../evaluate/evaluation-summary.ts";
import { measureNames, measuresOf } from "../../evaluate/measures.ts";
import { rowMetrics } from "../../evaluate/metrics/index.ts";
import { isShare } from "../../evaluate/metrics/metric-columns.ts";
import { setsOf } from "../evaluation-sets.ts";
import type { Settings } from "../settings/settings-schema.ts";
import { stageList } from "../settings/stages.ts";
import { CURVE_FIGURES, type CurveMetric, parseCurveMetric } from "./curve-metric.ts";

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
    ...(evaluations[0]?.names ?? []).map((name) => `${AVERAGE}${name}`),
    ...["steps", "wallSeconds", ...stages],
  ];
  const openEnded = [...evaluations.map(({ at }) => `${at}.groups.`), ...stages];
  if (known.includes(path) || openEnded.some((each) => path.startsWith(each))) return;
  throw fail(`is no number of a run's results. ${suggest(path, [...known, "curve.em.area"])}`);
}

/** Begins the path of a mean over the run's evaluation after training and those of all its sets. */
const AVERAGE = "eval.average.";

/** The numbers of a run that an average is over; null for another metric. @example partsOfAverage("eval.average.em", ["musique"]) // ["eval.after.em", "eval.sets.musique.after.em"] */
export function partsOfAverage(path: string, sets: readonly string[]): string[] | null {
  if (!path.startsWith(AVERAGE)) return null;
  const name = path.slice(AVERAGE.length);
  return [`eval.after.${name}`, ...sets.map((set) => `eval.sets.${set}.after.${name}`)];
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
