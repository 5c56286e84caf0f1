import { ConfigError } from "../base/errors.ts";
import { leavesOf } from "../base/leaves.ts";
import { suggest } from "../base/nearest.ts";
import { mean } from "../base/statistics.ts";
import { comparisons, experiments } from "../run/claims.ts";
import { checkMetricPath, partsOfAverage } from "../run/claims/claim-metric.ts";
import { parseCurveMetric } from "../run/claims/curve-metric.ts";
import { setsOf } from "../run/evaluation-sets.ts";
import type { Claim, RecipeFile } from "../run/settings/recipe-schema.ts";
import type { Settings } from "../run/settings/settings-schema.ts";
import { armCurve } from "./arm-curve.ts";
import type { MeasuredRun, MeasuresByRun } from "./claims/kept-measures.ts";
import { claimMeasures } from "./judge-claims.ts";
import type { ArmQuestions } from "./arm-questions.ts";
import type { ArmRun } from "./arms/arm-runs.ts";

/** Where the runs of a reproduction are. */
export interface RunSource {
  /** What a run came to; claims name its numbers by dotted paths. */
  resultOf: (run: ArmRun) => unknown;
  folderOf: (run: ArmRun) => string;
  /** The metric by held-out question; null where the run does not have it. */
  questionsOf: (run: ArmRun, metric: string) => Promise<ArmQuestions | null>;
}

/** What the runs of a reproduction measured. A run is read once for each metric. */
export interface Measures {
  /**
   * Measures everything that claims ask of a run, so that a metric that it lacks is found at the first run.
   * @throws {ConfigError} RECIPE_BAD_VALUE when a metric is no number of the run's results, or no curve of its folder.
   */
  take(run: ArmRun): Promise<void>;
  /** Of the runs taken, those of an arm, in the order of the seeds. */
  of(claim: Claim, arm: string, metric: string, runs: readonly ArmRun[]): MeasuredRun[];
  /** Whether everything that claims ask of a run is known. */
  knows(run: ArmRun): boolean;
  /** Everything that is known, by run and metric. */
  all(): MeasuresByRun;
}

/** @param before measures of earlier runs. */
export function openMeasures(
  recipe: RecipeFile,
  source: RunSource,
  before: MeasuresByRun = new Map(),
): Measures {
  const known = new Map([...before].map(([key, metrics]) => [key, { ...metrics }]));
  const asked = (run: ArmRun): { claim: Claim; metric: string }[] =>
    experiments(recipe).flatMap((claim) =>
      claimMeasures(claim).flatMap(({ arm, metric }) =>
        run.arms.includes(`${claim.id}/${arm}`) ? [{ claim, metric }] : [],
      ),
    );
  return {
    async take(run) {
      const own = known.get(run.key) ?? {};
      known.set(run.key, own);
      for (const { claim, metric } of asked(run))
        own[metric] ??= await measuredRun(recipe, { claim, run, metric }, source);
    },
    knows(run) {
      const own = known.get(run.key);
      return own !== undefined && asked(run).every(({ metric }) => own[metric] !== undefined);
    },
    all: () => known,
    of: (claim, arm, metric, runs) =>
      runs
        .filter((run) => run.arms.includes(`${claim.id}/${arm}`))
        .flatMap((run) => known.get(run.key)?.[metric] ?? []),
  };
}

/** A claim's metrics with the key of the recipe that names each: its own, and those of its relation. */
function metricsOf(claim: Claim): { metric: string; key: "metric" | "relation" }[] {
  const sides = comparisons(claim).flatMap(({ left, right }) => [left, right]);
  const others = sides.flatMap(({ metric }) => (metric === null ? [] : [metric]));
  return [
    { metric: claim.metric, key: "metric" },
    ...[...new Set(others)].map((metric) => ({ metric, key: "relation" as const })),
  ];
}

/**
 * Checks the metrics that a claim takes of one of its arms against the arm's settings.
 * @throws {ConfigError} RECIPE_BAD_VALUE for a metric that the arm's run does not have.
 */
export function checkClaimMetrics(
  recipe: RecipeFile,
  { claim, arm }: { claim: Claim; arm: string },
  settings: Settings,
): void {
  const taken = claimMeasures(claim).flatMap((each) => (each.arm === arm ? [each.metric] : []));
  for (const { metric, key } of metricsOf(claim)) {
    if (taken.includes(metric))
      checkMetricPath(metric, settings, problemWith(recipe, claim, { metric, key }));
  }
}

async function measuredRun(
  recipe: RecipeFile,
  { claim, run, metric }: { claim: Claim; run: ArmRun; metric: string },
  { resultOf, folderOf, questionsOf }: RunSource,
): Promise<MeasuredRun> {
  const { settings } = run.settings;
  const { evaluation, policy, alarms } = settings;
  const { key, seed } = run;
  const set = setsOf(settings).find((each) => metric.startsWith(`eval.sets.${each.set}.`));
  const { dataset, sampling, samplesPerTask } = set?.settings.evaluation ?? evaluation;
  // At temperature 0 all draws are the same.
  const draws = sampling.temperature === 0 ? 1 : samplesPerTask;
  const about = { key, seed, dataset: dataset.name, model: policy.from };
  const at = metricsOf(claim).find((each) => each.metric === metric)?.key ?? "metric";
  const fail = problemWith(recipe, claim, { metric, key: at });
  const curve = parseCurveMetric(metric, fail);
  if (curve !== null)
    return { ...about, draws: 0, ...(await armCurve(folderOf(run), curve, alarms, fail)) };
  const numbers = [...leavesOf(resultOf(run))].flatMap(([keys, value]) =>
    typeof value === "number" && Number.isFinite(value) ? [[keys.join("."), value] as const] : [],
  );
  const sets = setsOf(settings).map((each) => each.set);
  const parts = partsOfAverage(metric, sets) ?? [metric];
  const values = parts.map((part) => {
    const value = numbers.find(([path]) => path === part)?.[1];
    if (value !== undefined) return value;
    const known = numbers.map(([path]) => path);
    throw fail(`is no number of a run's results. ${suggest(part, known)}`);
  });
  const value = mean(values);
  return { ...about, draws, value, isBound: false, questions: await questionsOf(run, metric) };
}

function problemWith(
  recipe: RecipeFile,
  claim: Claim,
  { metric, key }: { metric: string; key: string },
): (sentence: string) => ConfigError {
  const c = recipe.claims.tests.indexOf(claim);
  const at = c < 0 ? ["claims", "calibration", "metric"] : ["claims", "tests", String(c), key];
  const verb = key === "metric" ? "is" : "names";
  return (sentence) =>
    new ConfigError(
      "RECIPE_BAD_VALUE",
      `${recipe.place(at)}: ${at.join(".")} ${verb} "${metric}", which ${sentence}`,
    );
}
