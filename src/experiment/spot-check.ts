import { mean, sampleVariance } from "../base/statistics.ts";
import { ConfigError } from "../base/errors.ts";
import { isShareMetric } from "../run/claims/claim-metric.ts";
import type { RecipeFile } from "../run/settings/recipe-schema.ts";
import type { Override } from "../run/settings/settings.ts";
import { openArmInputs } from "./arms/arm-inputs.ts";
import { armFolder, type ArmRun, armRuns } from "./arms/arm-runs.ts";
import { SHARE_PRIOR } from "./claims/claim-test.ts";
import { type KeptResults, measuresOf } from "./claims/kept-results.ts";
import { openMeasures } from "./measured-runs.ts";
import type { ReproduceOptions } from "./reproduce.ts";

/** One number of a kept run beside the same number of the run made again. */
export interface SpotResult {
  recipe: string;
  arm: string;
  seed: number;
  metric: string;
  kept: number;
  again: number;
  /** Whether every answer, search and score is the same; null where the metric has no questions. */
  sameAnswers: boolean | null;
  /** Largest difference that another training by the same settings explains: 2 √2 deviations between seeds; null where it is unknown. */
  noise: number | null;
  isWithin: boolean;
}

/**
 * Makes one arm of a recipe's kept results again, with its seed, and compares every number that claims take of it.
 * @throws {ConfigError} RECIPE_BAD_VALUE when the recipe has no longer the settings of the results.
 */
export async function spotCheck(
  recipe: RecipeFile,
  kept: KeptResults,
  options: Pick<ReproduceOptions, "out" | "signal" | "run" | "questionsOf" | "download"> & {
    version: string;
    overrides: readonly Override[];
  },
): Promise<SpotResult[]> {
  const { out, signal, overrides, version } = options;
  const { tier } = kept;
  const [first] = kept.runs;
  const inputs = openArmInputs({ ...options.download, signal });
  const seeds = kept.runs.map(({ seed }) => seed).slice(0, 1);
  const source = { recipe, tier, plan: { seeds }, overrides, version, inputs };
  const again = (await armRuns(source, () => 1)).find(({ key }) => key === first?.key);
  if (first === undefined || again === undefined) {
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `${recipe.path}: no arm has the settings of the kept results any longer. Measure them again: agentrl reproduce ${recipe.name} --keep.`,
    );
  }
  const folder = armFolder(out, again);
  const result = await options.run(again, { folder, signal });
  const measures = openMeasures(recipe, {
    resultOf: () => result,
    folderOf: () => folder,
    questionsOf: (run: ArmRun, metric) => options.questionsOf(run, metric),
  });
  await measures.take(again);
  const before = measuresOf(kept);
  return Object.entries(measures.all().get(again.key) ?? {}).flatMap(([metric, now]) => {
    const then = before.get(first.key)?.[metric];
    if (then === undefined) return [];
    const ofArm = kept.runs.filter(({ arms }) => arms.some((arm) => first.arms.includes(arm)));
    const noise = noiseOf(
      ofArm.flatMap(({ key }) => before.get(key)?.[metric]?.value ?? []),
      isShareMetric(metric),
    );
    const difference = Math.abs(now.value - then.value);
    const sameAnswers =
      now.questions === null ? null : now.questions.outcome === then.questions?.outcome;
    return {
      recipe: recipe.name,
      arm: first.arms[0] ?? "",
      seed: first.seed,
      metric,
      kept: then.value,
      again: now.value,
      sameAnswers,
      noise,
      isWithin: difference === 0 || (noise !== null && difference <= noise),
    };
  });
}

/** @param values of an arm by seed. */
function noiseOf(values: readonly number[], isShare: boolean): number | null {
  const degrees = values.length - 1;
  const own = degrees > 0 ? sampleVariance(values) * degrees : 0;
  // The prior is of a difference of two arms, so of twice the variance of one.
  const prior = isShare ? SHARE_PRIOR.degrees * (SHARE_PRIOR.deviation ** 2 / 2) : 0;
  const all = degrees + (isShare ? SHARE_PRIOR.degrees : 0);
  if (all === 0 || !Number.isFinite(mean(values))) return null;
  return 2 * Math.sqrt((2 * (own + prior)) / all);
}
