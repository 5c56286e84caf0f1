import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type RunEvaluation, readRunEvaluations } from "./run-evaluations.ts";
import { type MetricsRow, readRunMetrics } from "./run-metrics.ts";

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
