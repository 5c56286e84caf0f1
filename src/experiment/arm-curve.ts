import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { mean } from "../base/statistics.ts";
import {
  curveArea,
  firstMean,
  type CurveFigure,
  type CurvePoint,
  lastMean,
  spentTo,
  spikes,
  stepsTo,
} from "./claims/curve-figures.ts";
import { readComparedRun } from "./compare/read-compared-run.ts";
import { valueOf } from "./compare/shared-questions.ts";
import { alarms } from "../watch/alarms/index.ts";
import { type NamedAlarm, alarmsSchema } from "../watch/alarms/alarm-settings.ts";
import { openAlarms } from "../watch/alarms/open-alarms.ts";
import type { MetricsLine } from "../watch/metrics-line.ts";
import type { ArmQuestions } from "./arm-questions.ts";
import { METRICS_FILE, readMetrics } from "../run/folder/metrics-log.ts";
import { isEvaluationMetric } from "../run/claims/claim-metric.ts";
import type { CurveMetric } from "../run/claims/curve-metric.ts";

/** A figure of a run's curve, with its questions where the curve has them. */
export interface ArmCurve extends CurveFigure {
  questions: ArmQuestions | null;
}

/** Tokens that the policy wrote in a step. */
const TOKENS = "rollout/tokens";

/**
 * A figure of a curve in a run's folder. The steps of several stages follow each other.
 *
 * The curve of an evaluation metric goes from the evaluation before training over those of `evaluation.during` to the one after it, over the
 * questions that all of them have. Its area and its last points are also known question by question.
 *
 * @param named the run's alarms, whose options `collapse` takes over.
 * @param fail called with the rest of a sentence that begins with the metric's path.
 */
export async function armCurve(
  folder: string,
  { of, figure, argument }: CurveMetric,
  named: readonly NamedAlarm[],
  fail: (sentence: string) => Error,
): Promise<ArmCurve> {
  const legs = await readLegs(folder);
  const lines = legs.flatMap((leg) => leg.lines);
  if (figure === "collapse") {
    const name = isEvaluationMetric(of) ? `eval/${of}` : of;
    return { ...collapseOf(lines, name, named, fail), questions: null };
  }
  const evaluated = isEvaluationMetric(of) ? await readEvaluations(folder, legs, of) : null;
  const points = evaluated?.points ?? pointsOf(lines, of);
  if (points.length === 0) {
    const known = [...new Set(lines.flatMap(({ metrics }) => Object.keys(metrics)))].sort();
    throw fail(`has no points in ${join(folder, METRICS_FILE)}. Known: ${known.join(", ")}.`);
  }
  if (figure === "spikes")
    return { value: spikes(points, argument), isBound: false, questions: null };
  if (figure === "stepsTo") return { ...stepsTo(points, argument), questions: null };
  if (figure === "tokensTo") {
    const spent = pointsOf(lines, TOKENS);
    if (spent.length === 0) throw fail(`needs ${TOKENS}, which the training did not record.`);
    return { ...spentTo(points, argument, spent), questions: null };
  }
  const take = (each: readonly CurvePoint[]): number => MEANS[figure](each, argument);
  const questions = evaluated?.byQuestion(take) ?? null;
  return { value: take(points), isBound: false, questions };
}

/** Figures that are means of points: they are also known question by question. */
const MEANS = { area: curveArea, first: firstMean, last: lastMean };

/** A training: the run's own, or a stage's. `offset`: the steps of the stages before it. */
interface Leg {
  folder: string;
  offset: number;
  lines: MetricsLine[];
}

async function readLegs(folder: string): Promise<Leg[]> {
  const stages = join(folder, "stages");
  const names = existsSync(stages) ? readdirSync(stages) : [];
  const byNumber = names.sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10));
  const legs: Leg[] = [];
  let offset = 0;
  for (const leg of [folder, ...byNumber.map((name) => join(stages, name))]) {
    const lines: MetricsLine[] = [];
    for await (const { step, metrics } of readMetrics(join(leg, METRICS_FILE)))
      lines.push({ step: offset + step, metrics });
    legs.push({ folder: leg, offset, lines });
    offset = lines.at(-1)?.step ?? offset;
  }
  return legs;
}

function pointsOf(lines: readonly MetricsLine[], name: string): CurvePoint[] {
  return lines.flatMap(({ step, metrics }) => {
    const value = metrics[name];
    return value === undefined || Number.isNaN(value) ? [] : [{ step, value }];
  });
}

/** The curve of a metric over the held-out questions that every evaluation of a run has. */
async function readEvaluations(folder: string, legs: readonly Leg[], metric: string) {
  const last = legs.at(-1)?.lines.at(-1)?.step ?? legs.at(-1)?.offset ?? 0;
  const files = new Map([[0, join(folder, "eval", "before.rows.jsonl")]]);
  for (const leg of legs) {
    const own = join(leg.folder, "eval");
    for (const name of existsSync(own) ? readdirSync(own) : []) {
      const step = /^step-(\d+)\.rows\.jsonl$/.exec(name)?.[1];
      if (step !== undefined) files.set(leg.offset + Number(step), join(own, name));
    }
  }
  const after = join(folder, "eval", "after.rows.jsonl");
  if (existsSync(after)) files.set(last, after);
  const hash = createHash("sha256");
  const evaluations: { step: number; values: Map<string, number> }[] = [];
  for (const [step, file] of [...files].sort(([a], [b]) => a - b)) {
    if (!existsSync(file)) continue;
    const { questions } = await readComparedRun(file);
    const values = [...questions.values()].flatMap((question) => {
      const value = valueOf(question, metric);
      return value === null ? [] : [[question.id, value] as const];
    });
    evaluations.push({ step, values: new Map(values) });
    hash.update(await readFile(file));
  }
  const ids = [...(evaluations[0]?.values.keys() ?? [])].filter((id) =>
    evaluations.every(({ values }) => values.has(id)),
  );
  const curveOf = (id: string): CurvePoint[] =>
    evaluations.map(({ step, values }) => ({ step, value: values.get(id) ?? Number.NaN }));
  const points =
    ids.length === 0
      ? []
      : evaluations.map(({ step, values }) => ({
          step,
          value: mean(ids.map((id) => values.get(id) ?? Number.NaN)),
        }));
  const outcome = hash.digest("hex");
  const byQuestion = (take: (points: readonly CurvePoint[]) => number): ArmQuestions => ({
    values: new Map(ids.map((id) => [id, take(curveOf(id))])),
    outcome,
  });
  return { points, byQuestion };
}

/** Alarms that fire when a metric falls for good. */
const COLLAPSES = ["reward-drop", "search-collapse", "length-collapse", "entropy-collapse"];

/** The step at which the first of these alarms fires on a metric; the last step, as a bound, where none does. */
function collapseOf(
  lines: readonly MetricsLine[],
  metric: string,
  named: readonly NamedAlarm[],
  fail: (sentence: string) => Error,
): CurveFigure {
  const judges = (name: string): boolean =>
    alarms
      .get(name, "alarms")
      .metrics.some((each) => each === metric || (each.endsWith("<name>") && metric.startsWith("reward/"))); // prettier-ignore
  const rules = COLLAPSES.filter(judges);
  if (rules.length === 0) {
    const known = COLLAPSES.flatMap((name) => alarms.get(name, "alarms").metrics);
    throw fail(`has no alarm that judges ${metric}. Known: ${[...new Set(known)].join(", ")}.`);
  }
  const own = named.filter(({ name }) => rules.includes(name));
  const watch = openAlarms(own.length > 0 ? own : alarmsSchema.parse(rules));
  const others = new Set(COLLAPSES.flatMap((name) => alarms.get(name, "alarms").metrics));
  for (const { step, metrics } of lines) {
    // A rule reports one metric at a step: the others must not hide this one.
    const kept = Object.entries(metrics).filter(
      ([name]) => name === metric || !(others.has(name) || name.startsWith("reward/")),
    );
    const fired = watch.after({ step, metrics: Object.fromEntries(kept) });
    if (fired.length > 0) return { value: step, isBound: false };
  }
  return { value: lines.at(-1)?.step ?? Number.NaN, isBound: true };
}
