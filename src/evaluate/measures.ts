import { rewards as rewardParts } from "../rewards/index.ts";
import { type Scoring, type WeightedReward, scoreTrajectories } from "../rollout/score.ts";
import type { RewardValue } from "../trajectory/trajectory.ts";
import { rowMetrics } from "./metrics/index.ts";
import { type MeasuredDraw } from "./metrics/metric.ts";
import { metrics as metricParts } from "./metrics/own-metrics.ts";

/** What an evaluation computes of each draw beside `rowMetrics`. */
export interface Measures {
  /** Those that score one trajectory alone; one with the name of a metric of every evaluation is that metric, not computed again. */
  rewards: readonly WeightedReward[];
  metrics: readonly WeightedReward[];
}

const WHERE = "evaluation.metrics";

/** What the settings of a recipe name: `rewards` of any weight and `evaluation.metrics`. */
export function measuresOf({ rewards, models, evaluation }: Measuring): Measures {
  const isSnapshot = (option: unknown): boolean =>
    typeof option === "string" && "every" in Object(models?.[option]);
  const unweighted = ({
    name,
    as,
    weight: _,
    lazy: __,
    ...options
  }: NamedMeasure): WeightedReward => {
    return { name, as, options, weight: 0 };
  };
  return {
    rewards: rewards.map(unweighted).filter(({ name, as = name, options }) => {
      const { scope } = rewardParts.get(name, "rewards");
      if (scope !== "trajectory" || rowMetrics.names.includes(as)) return false;
      return !Object.values(options).some(isSnapshot);
    }),
    metrics: (evaluation.metrics ?? []).map(unweighted),
  };
}

interface Measuring {
  rewards: readonly NamedMeasure[];
  models?: Readonly<Record<string, unknown>>;
  evaluation: { metrics?: readonly NamedMeasure[] };
}

type NamedMeasure = { name: string; as?: string; weight?: unknown; lazy?: unknown };

/** The names under which they stand in rows, results and claims. */
export function measureNames({ rewards, metrics }: Measures): string[] {
  return [...new Set([...rewards, ...metrics].map(({ name, as = name }) => as))];
}

/** Measures draws. @returns by name, without what could not be scored. */
export function measurer(
  { rewards, metrics }: Measures,
  scoring: Scoring,
): (draw: MeasuredDraw, signal: AbortSignal) => Promise<Record<string, number>> {
  const single = metrics.filter(
    ({ name }) => metricParts.get(name, WHERE).scoreDraws === undefined,
  );
  const names = measureNames({ rewards, metrics: single });
  return async (draw, signal) => {
    const trajectory = { ...draw.trajectory, rewards: [], reward: null };
    const scored = [{ ...draw, trajectory }];
    await scoreTrajectories(scored, rewards, { ...scoring, signal });
    await scoreTrajectories(scored, single, { ...scoring, signal, registry: metricParts });
    const values = trajectory.rewards as RewardValue[];
    const sums = names.map((name) => {
      const own = values.filter((each) => each.name === name);
      // A reward that names no place is 0 in all.
      return [name, own.reduce((sum, { value }) => sum + (value ?? NaN), 0)] as const;
    });
    return Object.fromEntries(sums.filter(([, sum]) => !Number.isNaN(sum)));
  };
}

/** Draws of one question; one that an earlier run measured has its row alone. */
export type DrawsOfQuestion = readonly (Omit<MeasuredDraw, "trajectory"> &
  Partial<Pick<MeasuredDraw, "trajectory">>)[];

/** Measures a question's draws together. @returns by name, as `measurer`; undefined where no metric does so. */
export function drawsMeasurer({
  metrics,
}: Measures): ((draws: DrawsOfQuestion) => Record<string, number>) | undefined {
  const found = metrics.flatMap(({ name, as = name, options }) => {
    const part = metricParts.get(name, WHERE);
    return part.scoreDraws === undefined ? [] : [{ as, part, options }];
  });
  if (found.length === 0) return undefined;
  return (draws) => {
    // Rows are written when all draws of their question are measured, so one of an earlier run has the values.
    const earlier = draws.find(({ trajectory }) => trajectory === undefined)?.row.metrics;
    const measured = draws.filter((each): each is MeasuredDraw => each.trajectory !== undefined);
    const values = found.map(({ as, part, options }) => {
      return [as, earlier?.[as] ?? part.scoreDraws?.(measured, options) ?? null] as const;
    });
    return Object.fromEntries(values.filter((each): each is [string, number] => each[1] !== null));
  };
}
