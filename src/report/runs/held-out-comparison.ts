import { existsSync } from "node:fs";
import { join } from "node:path";
import { AgentrlError, errorMessage } from "../../base/errors.ts";
import { compareRuns } from "../../evaluate/compare/compare-runs.ts";
import type { MetricResult } from "../../evaluate/compare/compare-sides.ts";
import type { ComparedRun, Side } from "../../evaluate/compare/compared-run.ts";
import { readComparedRun } from "../../evaluate/compare/read-compared-run.ts";
import type { Interval } from "../../evaluate/statistics.ts";
import type { Arm } from "./arms.ts";

/** A difference on the same questions. */
export interface PairedDifference {
  difference: number;
  ci95: Interval;
  /** Questions that both sides measured. */
  n: number;
  /** After Holm's correction over the tests that are shown together. */
  p: number;
  verdict: MetricResult["verdict"];
}

/** An arm's figure on held-out questions. */
export interface HeldOutFigure {
  arm: Arm;
  /** Runs that measured it. */
  runs: number;
  before: number | null;
  after: number | null;
  /** After minus before; a sentence where they could not be compared. */
  change: PairedDifference | string | null;
  /** This arm minus the first, after training; a sentence where they could not be compared; null for the first. */
  against: PairedDifference | string | null;
}

/** Of every draw the same seed: the page is a function of the runs. */
const SEED = 0;

/**
 * What arms came to on held-out questions, compared question by question where they were measured under one protocol.
 * @returns figures by metric, `em` and `f1`, as far as they were measured.
 */
export async function heldOutComparison(
  arms: readonly Arm[],
): Promise<{ metric: "em" | "f1"; figures: HeldOutFigure[] }[]> {
  const sides = await Promise.all(
    arms.map(async (arm) => ({
      arm,
      before: await sideOf(arm, "before"),
      after: await sideOf(arm, "after"),
    })),
  );
  const [first] = sides;
  const changes = sides.map(({ before, after }) => compared(after, before));
  const against = sides.map(({ after }, i) =>
    i === 0 || first === undefined ? null : compared(after, first.after),
  );
  return (["em", "f1"] as const).flatMap((metric) => {
    const figures = sides.map(({ arm }, i): HeldOutFigure => {
      const [before, after] = [meanOf(arm, "before", metric), meanOf(arm, "after", metric)];
      return {
        ...{ arm, before, after, runs: measuredRuns(arm) },
        change: of(changes[i] ?? null, metric),
        against: of(against[i] ?? null, metric),
      };
    });
    return figures.some(({ before, after }) => before !== null || after !== null)
      ? [{ metric, figures }]
      : [];
  });
}

async function sideOf(arm: Arm, name: "before" | "after"): Promise<Side | string | null> {
  const runs: ComparedRun[] = [];
  try {
    for (const { folder, settings } of arm.runs) {
      const rows = join(folder, "eval", `${name}.rows.jsonl`);
      if (!existsSync(rows)) continue;
      const run = await readComparedRun(rows);
      const seed = settings?.values.get("seed");
      // A run's own evaluations do not say the seed; by it runs are paired.
      const facts = typeof seed === "number" ? { ...run.facts, seed } : run.facts;
      runs.push({ ...run, facts });
    }
  } catch (error) {
    if (error instanceof AgentrlError) return errorMessage(error);
    throw error;
  }
  return runs.length === 0 ? null : { name: `${arm.name} (${name})`, runs };
}

/** Left minus right; a sentence where they cannot be compared; null where one was not measured. */
function compared(
  left: Side | string | null,
  right: Side | string | null,
): readonly MetricResult[] | string | null {
  if (left === null || right === null) return null;
  if (typeof left === "string") return left;
  if (typeof right === "string") return right;
  try {
    return compareRuns([left, right], { seed: SEED }).comparisons[0]?.metrics ?? null;
  } catch (error) {
    if (error instanceof AgentrlError) return errorMessage(error);
    throw error;
  }
}

function of(
  found: readonly MetricResult[] | string | null,
  metric: string,
): PairedDifference | string | null {
  if (found === null || typeof found === "string") return found;
  const own = found.find((each) => each.metric === metric);
  if (own === undefined) return null;
  const { difference, ci95, n, pHolm: p, verdict } = own;
  return { difference, ci95, n, p, verdict };
}

function meanOf(arm: Arm, name: string, metric: string): number | null {
  const values = arm.runs.flatMap(
    ({ evaluations }) => evaluations.find((each) => each.name === name)?.metrics[metric] ?? [],
  );
  return values.length === 0 ? null : values.reduce((sum, each) => sum + each, 0) / values.length;
}

function measuredRuns({ runs }: Arm): number {
  return runs.filter(({ evaluations }) => evaluations.some(({ name }) => name === "after")).length;
}
