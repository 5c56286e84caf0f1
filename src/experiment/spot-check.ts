import { sampleVariance } from "../base/statistics.ts";
import { ConfigError } from "../base/errors.ts";
import { isShareMetric } from "../run/claims/claim-metric.ts";
import type { RecipeFile } from "../run/settings/recipe-schema.ts";
import type { Override } from "../run/settings/settings.ts";
import { openArmInputs } from "./arms/arm-inputs.ts";
import { armFolder, armRuns } from "./arms/arm-runs.ts";
import { moderatedVariance, SHARE_PRIOR } from "./claims/claim-test.ts";
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
 * @throws {ConfigError} RECIPE_BAD_VALUE when the recipe no longer has the settings of the results.
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
  const seeds = first === undefined ? [] : [first.seed];
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
    questionsOf: options.questionsOf,
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

/** @param values of an arm by seed, at least one. */
function noiseOf(values: readonly number[], isShare: boolean): number | null {
  const degrees = values.length - 1;
  if (degrees === 0 && !isShare) return null;
  const own = degrees === 0 ? 0 : sampleVariance(values);
  // The prior is of the difference of two arms, which has twice the variance of one.
  const deviation = SHARE_PRIOR.deviation / Math.SQRT2;
  const variance = isShare ? moderatedVariance(own, degrees, { ...SHARE_PRIOR, deviation }) : own;
  return 2 * Math.sqrt(2 * variance);
}
