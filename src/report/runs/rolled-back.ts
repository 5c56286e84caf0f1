import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { type RunEvaluation, readRunEvaluations } from "./run-evaluations.ts";
import { type MetricsRow, readRunMetrics } from "./run-metrics.ts";

/** What a return to a checkpoint took out of a run: `rolled-back/<n>/`. */
export interface RolledBack {
  /** Which return, from 1. */
  number: number;
  folder: string;
  /** The steps that were taken back. */
  metrics: MetricsRow[];
  evaluations: RunEvaluation[];
}

/** What a run's returns took out of it, in order. */
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
 * What was taken back as curves, each from the step that the run went back to, which it shares with what came after.
 * @param metrics of the run as it is.
 */
export function rolledBackStretches(
  returns: readonly RolledBack[],
  metrics: readonly MetricsRow[],
): MetricsRow[][] {
  return returns.flatMap((own, i) => {
    const [first] = own.metrics;
    if (first === undefined) return [];
    // A later return may have taken back the step before, too.
    const paths = [...returns.slice(i + 1).map((later) => later.metrics), metrics];
    const before = paths.flatMap((path) => path.find(({ step }) => step === first.step - 1) ?? []);
    return [[...before.slice(0, 1), ...own.metrics]];
  });
}
