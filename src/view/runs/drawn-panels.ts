import { formatScore } from "../../base/format.ts";
import { type Interval, summarize } from "../../evaluate/statistics.ts";
import { curveAxis, type CurveAxis } from "../charts/marks.ts";
import type { ArmCurve, CurvePoint } from "../charts/curve.ts";
import { bandOf, smoothed, type StepValue, thinned } from "./curve-statistics.ts";
import { EXACT_MATCH, PANEL_GROUPS, type PanelSpec } from "./panels.ts";
import { type DrawnRun, rolledBackStretches, type RunPart } from "./run-parts.ts";
import type { RunEvaluation } from "./run-evaluations.ts";
import type { MetricsRow } from "./run-metrics.ts";
import { exactMatchMetric, type RunSettings } from "./run-settings.ts";

/** A panel with all its curves and points. */
export interface DrawnPanel {
  spec: PanelSpec;
  axis: CurveAxis;
  curves: ArmCurve[];
  /** Values at the cursor: per arm the run, or the mean of its runs. */
  values: StepValue[][];
}

/** Panels under one heading, each with a metric that some run has. */
export interface DrawnGroup {
  title: string;
  panels: DrawnPanel[];
}

/** The panels of a part: the declared ones with a metric, then every other metric of the runs. */
export function drawnGroups(part: RunPart): DrawnGroup[] {
  const rows = part.arms.flatMap(({ runs }) => runs.flatMap(({ files }) => files.metrics));
  const names = new Set(rows.flatMap(({ values }) => Object.keys(values)));
  const declared = PANEL_GROUPS.flatMap(({ panels }) => panels);
  const settings = part.arms.flatMap(({ runs }) => runs.map(({ files }) => files.settings));
  const taken = new Set([
    ...declared.flatMap(({ metrics }) => metrics),
    ...settings.map(exactMatchMetric),
  ]);
  const others = [...names].filter((name) => !taken.has(name)).sort();
  const groups = [
    ...PANEL_GROUPS,
    {
      title: "Further metrics",
      panels: others.map((name): PanelSpec => ({ title: name, unit: "", metrics: [name] })),
    },
  ];
  return groups.flatMap(({ title, panels }) => {
    const drawn = panels.flatMap((spec) => drawnPanel(spec, part) ?? []);
    return drawn.length === 0 ? [] : [{ title, panels: drawn }];
  });
}

/** What a panel is drawn from: arms with the measured values of their runs. */
export interface DrawnArms {
  arms: { arm: { series: number }; runs: MeasuredCurve[] }[];
}

type MeasuredCurve = Pick<DrawnRun, "rolledBack"> & {
  files: Pick<DrawnRun["files"], "metrics" | "evaluations"> &
    Partial<Pick<DrawnRun["files"], "settings">>;
};

/** One panel; null: no run has its metric. */
export function drawnPanel(spec: PanelSpec, part: DrawnArms): DrawnPanel | null {
  const values: StepValue[][] = [];
  const curves = part.arms.map(({ arm, runs }): ArmCurve => {
    const members = runs.map(({ files }) => valuesOf(files.metrics, spec, files.settings));
    const full = members.filter((own) => own.length > 0);
    const single = full.length < 2;
    const soft = full.map(smoothed);
    const band = single ? [] : bandOf(full);
    const mean = band.map(({ step, mean: value }) => ({ step, value }));
    const smoothBand = single ? [] : bandOf(soft);
    values.push(single ? (full[0] ?? []) : mean);
    return {
      series: arm.series,
      runs: full.map((own) => thinned(own)),
      band: thin(band),
      smoothBand: thin(smoothBand),
      smooth: thinned(
        single ? (soft[0] ?? []) : smoothBand.map(({ step, mean: value }) => ({ step, value })),
      ),
      rolledBack: runs.flatMap(({ files, rolledBack }) =>
        rolledBackStretches(rolledBack, files.metrics).map((stretch) =>
          thinned(valuesOf(stretch, spec, files.settings)),
        ),
      ),
      points: spec.heldOut === undefined ? [] : pointsOf(runs, spec.heldOut),
    };
  });
  const drawn = curves.flatMap(({ runs, rolledBack, points }) => [
    ...[...runs, ...rolledBack].flatMap((own) => own.map(({ value }) => value)),
    ...points.flatMap(({ value, whisker }) => [value, ...(whisker ?? [])]),
  ]);
  if (drawn.length === 0) return null;
  const largest = drawn.reduce((most, value) => Math.max(most, value), 0);
  const axis = curveAxis(spec.share === true && largest > 0.5 ? [0, 1] : drawn);
  return { spec, axis, curves, values };
}

/** Thins a band, which changes slowly. */
function thin<T>(band: readonly T[], most = 300): T[] {
  const every = Math.ceil(band.length / most);
  return band.filter((_, i) => i % every === 0 || i === band.length - 1);
}

/** A panel's metric of a run by step: the first of its names that the run has at all. */
export function valuesOf(
  rows: readonly MetricsRow[],
  { metrics }: Pick<PanelSpec, "metrics">,
  settings: RunSettings | null = null,
): StepValue[] {
  for (const name of metrics) {
    const metric = name === EXACT_MATCH ? exactMatchMetric(settings) : name;
    const found = rows.flatMap(({ step, values: { [metric]: value } }) =>
      value === undefined ? [] : [{ step, value }],
    );
    if (found.length > 0) return found;
  }
  return [];
}

/**
 * Held-out evaluations of an arm by step: one run has an interval over its questions, several runs have a mean and a range. Rolled-back
 * evaluations are separate points.
 */
function pointsOf(runs: readonly MeasuredCurve[], metric: "em" | "f1"): CurvePoint[] {
  const byStep = new Map<number, RunEvaluation[]>();
  for (const { files } of runs) {
    // The evaluations at the last step and after training are the same point.
    const own = new Map(files.evaluations.map((evaluation) => [evaluation.step, evaluation]));
    for (const [step, evaluation] of own)
      byStep.set(step, [...(byStep.get(step) ?? []), evaluation]);
  }
  const takenBack = runs.flatMap(({ rolledBack }) =>
    rolledBack.flatMap(({ evaluations }) => evaluations.flatMap((own) => pointOf([own], metric))),
  );
  return [
    ...takenBack.map((own) => ({ ...own, title: `${own.title}; rolled back`, takenBack: true })),
    ...[...byStep.values()].flatMap((found) => {
      const measured = found.length < runs.length ? `; ${found.length} of ${runs.length} runs` : "";
      return pointOf(found, metric).map((own) => ({ ...own, title: own.title + measured }));
    }),
  ];
}

function pointOf(found: readonly RunEvaluation[], metric: "em" | "f1"): CurvePoint[] {
  const [first] = found;
  const values = found.flatMap(({ metrics }) => metrics[metric] ?? []);
  if (first === undefined || values.length === 0) return [];
  const { step, n, intervals } = first;
  const { mean } = summarize(values);
  const one = found.length === 1 ? (intervals[metric] ?? null) : null;
  const isRange = values.length > 1;
  const whisker: Interval | null = isRange ? [Math.min(...values), Math.max(...values)] : one;
  const spread =
    whisker === null
      ? ""
      : ` (${whisker.map(formatScore).join("–")}, ${isRange ? "min–max of runs" : "95 % over questions"})`;
  const title = `step ${step}: held-out ${metric.toUpperCase()} ${formatScore(mean)}${spread}, ${n} questions`;
  return [{ step, value: mean, whisker, title }];
}
