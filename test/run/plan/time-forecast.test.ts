import { describe, expect, it } from "vitest";
import { forecastTime, type RunLength, type Trial } from "../../../src/run/plan/time-forecast.ts";

const trial: Trial = {
  opening: 2,
  saving: 0.5,
  share: 1,
  evaluations: [
    { questions: 10, seconds: 1 },
    { questions: 10, seconds: 3 },
  ],
  steps: [
    { rollout: 1, update: 9 },
    { rollout: 2, update: 4 },
    { rollout: 3, update: 4 },
    { rollout: 5, update: 6 },
  ],
};
const run: RunLength = {
  steps: 10,
  questions: 100,
  checkpoints: 4,
  between: { count: 2, questions: 50 },
};

describe("the time of a run from its first steps", () => {
  it("adds steps like the last two to those taken, and evaluations by their questions", () => {
    const time = forecastTime(trial, run);
    // 11 of four steps, and six of (3 + 5) / 2; 23 and six of (4 + 6) / 2.
    expect(time).toMatchObject({ opening: 2, rollouts: 35, updates: 53, checkpoints: 2 });
    // 100 before at .1, 100 after and 2 × 50 between at .3.
    expect(time.evaluations).toBeCloseTo(70);
    expect(time.total).toBeCloseTo(162);
    expect(time.range.low).toBeCloseTo(0.8 * 162);
    expect(time.range.high).toBeCloseTo(1.2 * 162);
  });

  it("leaves the first step out of what later steps are like, where there is another", () => {
    const of = (steps: number) =>
      forecastTime({ ...trial, steps: trial.steps.slice(0, steps) }, run);
    expect(of(2).updates).toBe(9 + 9 * 4);
    expect(of(1).updates).toBe(10 * 9);
  });

  it("scales steps with a share of the questions to whole ones", () => {
    const { rollouts, updates, opening } = forecastTime({ ...trial, share: 0.25 }, run);
    expect({ rollouts, updates, opening }).toEqual({
      rollouts: 4 * 35,
      updates: 4 * 53,
      opening: 2,
    });
  });

  it("is of the steps alone where all of them were taken", () => {
    const { rollouts, updates } = forecastTime(trial, { ...run, steps: 4 });
    expect({ rollouts, updates }).toEqual({ rollouts: 11, updates: 23 });
  });

  it("takes the evaluation after training to be like that before it, where it was not reached", () => {
    const [before] = trial.evaluations;
    const { evaluations } = forecastTime({ ...trial, evaluations: before ? [before] : [] }, run);
    expect(evaluations).toBeCloseTo(30);
  });
});
