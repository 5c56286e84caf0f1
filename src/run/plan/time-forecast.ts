/** What the first steps of a run took; seconds. */
export interface Trial {
  /** Until the first question is asked. */
  opening: number;
  /** Of held-out questions before the steps and after them. */
  evaluations: { questions: number; seconds: number }[];
  steps: { rollout: number; update: number }[];
  /** A checkpoint. */
  saving: number;
  /** Share of a step's questions that these steps asked. */
  share: number;
}

/** What the whole run does. */
export interface RunLength {
  steps: number;
  /** Held-out questions before, and as many after. Those of sets count as so many of the run's own as cost the same. */
  questions: number;
  /** Evaluations between the steps. */
  between: { count: number; questions: number };
  checkpoints: number;
}

/** Forecast seconds of a run, by what takes them. */
export interface TimeForecast {
  opening: number;
  evaluations: number;
  rollouts: number;
  updates: number;
  checkpoints: number;
  total: number;
  range: { low: number; high: number };
}

/** By so much forecasts and runs differ: docs/planning.md. */
const UNCERTAINTY = 0.2;

/**
 * Forecasts a run from its first steps: those not taken are like the mean of the last two. The first step compiles graphs, so it counts
 * among these only where it is the only one.
 *
 * @param trial has at least one step and one evaluation.
 */
export function forecastTime(trial: Trial, run: RunLength): TimeForecast {
  const { opening, evaluations, steps, share } = trial;
  const alike = steps.length > 1 ? steps.slice(1).slice(-2) : steps;
  const untaken = Math.max(0, run.steps - steps.length);
  const whole = (part: "rollout" | "update"): number => {
    const sum = (of: Trial["steps"]): number => of.reduce((all, each) => all + each[part], 0);
    return (sum(steps) + (untaken * sum(alike)) / alike.length) / share;
  };
  const each = evaluations.map(({ questions, seconds }) => seconds / Math.max(1, questions));
  const [before = 0, after = before] = each;
  const asked =
    run.questions * (before + after) + run.between.count * run.between.questions * after;
  const parts = {
    opening,
    evaluations: asked,
    rollouts: whole("rollout"),
    updates: whole("update"),
    checkpoints: run.checkpoints * trial.saving,
  };
  const total = Object.values(parts).reduce((sum, seconds) => sum + seconds, 0);
  const range = { low: (1 - UNCERTAINTY) * total, high: (1 + UNCERTAINTY) * total };
  return { ...parts, total, range };
}
