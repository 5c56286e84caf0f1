import {
  type ArmComparison,
  compareArms,
  type SeededValue,
} from "../../experiment/arm-comparison.ts";
import { mean } from "../../base/statistics.ts";
import { summarize, type Summary } from "../../evaluate/statistics.ts";
import type { Arm } from "./arms.ts";
import { valuesOf } from "./drawn-panels.ts";
import { PANEL_GROUPS, type PanelSpec } from "./panels.ts";
import type { RunPart } from "./run-parts.ts";

/** Most last steps whose mean is a run's final value. */
const LAST_STEPS = 10;

/** A metric at the end of training. */
export interface LastFigure {
  spec: PanelSpec;
  /** Steps that each mean is over: LAST_STEPS, or fewer of a short run. */
  steps: number;
  arms: {
    arm: Arm;
    /** Over runs; null if none has the metric. */
    summary: Summary | null;
    /** This arm minus the first, over runs; null for the first, or if one lacks the metric. */
    against: ArmComparison | null;
  }[];
}

/**
 * Every declared metric's mean over the last steps of each run, and over the runs of each arm, with runs of one seed averaged first; arms
 * with the same seeds are compared seed by seed.
 */
export function lastFigures(part: RunPart): LastFigure[] {
  return PANEL_GROUPS.flatMap(({ panels }) => panels).flatMap((spec) => {
    let steps = 0;
    const found = part.arms.map(({ arm, runs }) => ({
      arm,
      values: bySeed(
        runs.flatMap(({ files }, i): SeededValue[] => {
          const last = valuesOf(files.metrics, spec, files.settings).slice(-LAST_STEPS);
          const seed = files.settings?.values.get("seed");
          if (last.length === 0) return [];
          const value = mean(last.map((each) => each.value));
          steps = Math.max(steps, last.length);
          return [{ seed: typeof seed === "number" ? seed : -1 - i, value }];
        }),
      ),
    }));
    const [first] = found;
    if (found.every(({ values }) => values.length === 0)) return [];
    const arms = found.map(({ arm, values }, i) => ({
      arm,
      summary: values.length === 0 ? null : summarize(values.map(({ value }) => value)),
      against:
        i === 0 || first === undefined || first.values.length * values.length === 0
          ? null
          : compareArms(values, first.values),
    }));
    return [{ spec, steps, arms }];
  });
}

/** What the figures are means of. @example lastStepsText(figures) // "last 10 steps", "2 steps" */
export function lastStepsText(figures: readonly LastFigure[]): string {
  const steps = Math.max(...figures.map((figure) => figure.steps));
  return steps < LAST_STEPS
    ? steps === 1
      ? "only step"
      : `${steps} steps`
    : `last ${steps} steps`;
}

/** One value for each seed: runs of the same seed are not independent. */
function bySeed(values: readonly SeededValue[]): SeededValue[] {
  return [...new Set(values.map(({ seed }) => seed))].map((seed) => {
    const own = values.filter((each) => each.seed === seed);
    return { seed, value: mean(own.map(({ value }) => value)) };
  });
}
