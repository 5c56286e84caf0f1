import type { ClaimResult, ReproducedRun } from "../../experiment/claims/claim-results.ts";
import type { KeptRun } from "../../experiment/claims/kept-results.ts";
import type { ViewerItem } from "../viewer/embed.ts";
import { runItems, type RunReading } from "../viewer/run-items.ts";
import { type StepValue, thinned } from "./curve-statistics.ts";
import { valuesOf } from "./drawn-panels.ts";
import type { RunFiles } from "./run-files.ts";
import { sampleTrajectories } from "./run-trajectories.ts";

/** Most steps of a kept curve. */
const MOST_STEPS = 60;

/**
 * What stays of a run for its pages.
 * @param files of the run; null: it left no folder.
 * @param claims whose curves are kept where the run is one of their arms.
 */
export function keptRun(
  { key, seed, arms, origin, measured }: ReproducedRun,
  files: RunFiles | null,
  claims: readonly Pick<ClaimResult, "id" | "curves">[],
): KeptRun {
  const metrics = trainedPart(files)?.metrics ?? [];
  const curveOf = (name: string): StepValue[] =>
    thinned(valuesOf(metrics, { metrics: [name] }), MOST_STEPS).map(({ step, value }) => ({
      step,
      value: Number(value.toPrecision(4)),
    }));
  const own = claims.filter(({ id }) => arms.some((arm) => arm.startsWith(`${id}/`)));
  const shown = [...new Set(own.flatMap(({ curves = [] }) => curves))];
  const points = new Map((files?.evaluations ?? []).map((each) => [each.step, each]));
  return {
    key,
    seed,
    arms,
    origin,
    measured,
    hashes: files?.manifest.hashes ?? {},
    reward: curveOf("rollout/reward_mean"),
    heldOut: [...points.values()].flatMap(({ step, n, metrics: { em }, intervals }) =>
      typeof em === "number" ? [{ step, n, em, ci95: intervals["em"] ?? null }] : [],
    ),
    curves:
      shown.length === 0
        ? undefined
        : Object.fromEntries(shown.map((name) => [name, curveOf(name)])),
  };
}

/** The run, or its last stage, that took steps. */
function trainedPart(files: RunFiles | null): RunFiles | undefined {
  return files === null
    ? undefined
    : [...files.stages, files].findLast(({ metrics }) => metrics.length > 0);
}

/** Trajectories kept of an arm: of one question, the one with the highest and the one with the lowest reward. */
const PER_ARM = 2;

/** Trajectories of the last step of each arm's first run, for the viewer. */
export async function keptSamples(
  runs: readonly (ReproducedRun & { files: RunFiles | null })[],
  { recipe }: { recipe: string },
  readingOf: (run: RunFiles) => Promise<RunReading>,
): Promise<ViewerItem[]> {
  const items: ViewerItem[] = [];
  const seen = new Set<string>();
  for (const { arms, files } of runs) {
    const [arm = ""] = arms;
    const part = trainedPart(files);
    if (files === null || part === undefined || seen.has(arm)) continue;
    seen.add(arm);
    const bounds = { perStep: PER_ARM, characters: 1 };
    const { steps } = await sampleTrajectories({ folder: part.folder }, bounds);
    const reading = await readingOf(part);
    const sampled = steps.map((step) => ({
      run: `${recipe} ${arm}`,
      stage: null,
      ...step,
      reading,
    }));
    for await (const item of runItems(sampled, true)) items.push(item);
  }
  return items;
}
