import { existsSync } from "node:fs";
import { join } from "node:path";
import { evaluationName } from "../../evaluate/policy-label.ts";
import type { MetricResult } from "../../experiment/compare/compare-sides.ts";
import type { ComparedRun, Side } from "../../experiment/compare/compared-run.ts";
import { readComparedRun } from "../../experiment/compare/read-compared-run.ts";
import { type PairedDifference, againstFirst, orWhyNot, paired } from "../paired-with-first.ts";
import type { Arm } from "./arms.ts";
import type { RunEvaluation } from "./run-evaluations.ts";
import type { RunFiles } from "./run-files.ts";

/** An arm's figure on held-out questions. */
export interface HeldOutFigure {
  arm: Arm;
  /** Number of runs that measured it. */
  runs: number;
  before: number | null;
  after: number | null;
  /** After minus before; a sentence if they cannot be compared. */
  change: PairedDifference | string | null;
  /** This arm minus the first, after training; a sentence if they cannot be compared; null for the first. */
  against: PairedDifference | string | null;
}

/**
 * Results of arms on held-out questions, compared question by question if they have the same protocol.
 * @param set one of `evaluation.sets`; null: the run's own `evaluation`.
 * @returns figures by metric, `em` and `f1`, if measured.
 */
export async function heldOutComparison(
  arms: readonly Arm[],
  set: string | null = null,
): Promise<{ metric: "em" | "f1"; figures: HeldOutFigure[] }[]> {
  const [start, end] = [evaluationName(set, "before"), evaluationName(set, "after")];
  const sides = await Promise.all(
    arms.map(async (arm) => ({
      arm,
      before: await orWhyNot(() => sideOf(arm, start)),
      after: await orWhyNot(() => sideOf(arm, end)),
    })),
  );
  const [first] = sides;
  const changes = await Promise.all(sides.map(({ before, after }) => compared(after, before)));
  const against = await Promise.all(
    sides.map(({ after }, i) => compared(after, i === 0 ? null : (first?.after ?? null))),
  );
  return (["em", "f1"] as const).flatMap((metric) => {
    const figures = sides.map(({ arm }, i): HeldOutFigure => {
      const [before, after] = [meanOf(arm, start, metric), meanOf(arm, end, metric)];
      return {
        arm,
        before,
        after,
        runs: measuredRuns(arm, end),
        change: of(changes[i] ?? null, metric),
        against: of(against[i] ?? null, metric),
      };
    });
    return figures.some(({ before, after }) => before !== null || after !== null)
      ? [{ metric, figures }]
      : [];
  });
}

async function sideOf(arm: Arm, name: string): Promise<Side | null> {
  const runs: ComparedRun[] = [];
  for (const { folder, settings } of arm.runs) {
    const rows = join(folder, "eval", `${name}.rows.jsonl`);
    if (!existsSync(rows)) continue;
    const run = await readComparedRun(rows);
    const seed = settings?.values.get("seed");
    // A run's own evaluations do not record the seed, which pairs the runs.
    const facts = typeof seed === "number" ? { ...run.facts, seed } : run.facts;
    runs.push({ ...run, facts });
  }
  return runs.length === 0 ? null : { name: `${arm.name} (${name})`, runs };
}

/** Left minus right; a sentence if they cannot be compared; null if one was not measured. */
async function compared(
  left: Side | string | null,
  right: Side | string | null,
): Promise<readonly MetricResult[] | string | null> {
  if (left === null || right === null) return null;
  if (typeof left === "string") return left;
  if (typeof right === "string") return right;
  return orWhyNot(() => againstFirst([left, right])[0]?.metrics ?? null);
}

function of(
  found: readonly MetricResult[] | string | null,
  metric: string,
): PairedDifference | string | null {
  if (found === null || typeof found === "string") return found;
  const own = found.find((each) => each.metric === metric);
  return own === undefined ? null : paired(own);
}

function meanOf(arm: Arm, name: string, metric: string): number | null {
  const values = arm.runs.flatMap((run) => evaluationOf(run, name)?.metrics[metric] ?? []);
  return values.length === 0 ? null : values.reduce((sum, each) => sum + each, 0) / values.length;
}

function measuredRuns({ runs }: Arm, name: string): number {
  return runs.filter((run) => evaluationOf(run, name) !== undefined).length;
}

function evaluationOf({ evaluations, sets }: RunFiles, name: string): RunEvaluation | undefined {
  return [...evaluations, ...sets].find((each) => each.name === name);
}
