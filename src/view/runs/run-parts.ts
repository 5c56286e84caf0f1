import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { SEVERAL } from "../../run/folder/run-file.ts";
import type { Arm } from "./arms.ts";
import { readRunEvaluations, type RunEvaluation } from "./run-evaluations.ts";
import type { RunFiles } from "./run-files.ts";
import { type MetricsRow, readRunMetrics } from "./run-metrics.ts";

/** A run on the page: the run itself, or one of its stages. */
export interface DrawnRun {
  /** Short unique name: `klCoef 0, seed 2`. */
  name: string;
  files: RunFiles;
  rolledBack: RolledBack[];
}

/** Curves that share an axis of steps: a run's, or those of one stage of several runs. */
export interface RunPart {
  /** `2-sft`; null: not a stage. */
  stage: string | null;
  arms: { arm: Arm; runs: DrawnRun[] }[];
}

/** The parts of arms: runs without stages first, then each stage in order. */
export async function partsOf(arms: readonly Arm[]): Promise<RunPart[]> {
  const parts = new Map<string | null, RunPart>();
  for (const arm of arms) {
    for (const run of arm.runs) {
      const name = runName(arm, run);
      const drawn =
        run.kind === SEVERAL ? run.stages.filter(({ kind }) => kind !== "synth") : [run];
      for (const files of drawn) {
        const stage = files === run ? null : basename(files.folder);
        const part = parts.get(stage) ?? { stage, arms: [] };
        parts.set(stage, part);
        let own = part.arms.find((each) => each.arm === arm);
        if (own === undefined) part.arms.push((own = { arm, runs: [] }));
        const rolledBack = await readRolledBack(files.folder);
        own.runs.push({ name, files, rolledBack });
      }
    }
  }
  const number = (stage: string | null): number =>
    stage === null ? 0 : Number.parseInt(stage, 10);
  return [...parts.values()].sort((a, b) => number(a.stage) - number(b.stage));
}

/** A run's name in lists: its arm's, and its own label if the arm has several. */
export function runName(arm: Arm, run: RunFiles): string {
  return arm.runs.length === 1 ? arm.name : `${arm.name}, ${runLabel(arm, run)}`;
}

/** A run's name within its arm: its seed, or its folder's name if the seed is not unique. */
export function runLabel(arm: Arm, run: RunFiles): string {
  const seed = (of: RunFiles): string => JSON.stringify(of.settings?.values.get("seed") ?? null);
  const alike = arm.runs.filter((other) => seed(other) === seed(run));
  return alike.length === 1 ? `seed ${seed(run)}` : basename(run.folder);
}

/** The records that a rollback removed from a run: `rolled-back/<n>/`. */
export interface RolledBack {
  /** Number of the rollback, from 1. */
  number: number;
  folder: string;
  /** The rolled-back steps. */
  metrics: MetricsRow[];
  evaluations: RunEvaluation[];
}

/** The records of a run's rollbacks, in order. */
export async function readRolledBack(run: string): Promise<RolledBack[]> {
  const place = join(run, "rolled-back");
  const names = existsSync(place) ? await readdir(place) : [];
  const numbers = names.filter((name) => /^\d+$/.test(name)).map(Number);
  return Promise.all(
    numbers
      .sort((a, b) => a - b)
      .map(async (number) => {
        const folder = join(place, String(number));
        const metrics = await readRunMetrics(join(folder, "metrics.jsonl"));
        const { evaluations } = await readRunEvaluations(folder, metrics.at(-1)?.step ?? 0);
        return { number, folder, metrics, evaluations };
      }),
  );
}

/**
 * Rolled-back steps as curves, each from the checkpoint's step, which it shares with the new curve.
 * @param metrics current metrics of the run.
 */
export function rolledBackStretches(
  returns: readonly RolledBack[],
  metrics: readonly MetricsRow[],
): MetricsRow[][] {
  return returns.flatMap((own, i) => {
    const [first] = own.metrics;
    if (first === undefined) return [];
    // A later rollback may have removed the step before, too.
    const paths = [...returns.slice(i + 1).map((later) => later.metrics), metrics];
    const before = paths.flatMap((path) => path.find(({ step }) => step === first.step - 1) ?? []);
    return [[...before.slice(0, 1), ...own.metrics]];
  });
}
