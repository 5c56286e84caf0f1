import { describe, expect, it } from "vitest";
import { openHistory } from "../../src/algorithms/history.ts";
import { answered, task } from "../helpers/search-world.ts";

const group = (id: string, values: readonly (number | null)[]) => ({
  groupId: id,
  task: { ...task, id },
  trajectories: values.map((value) =>
    answered("x", {
      groupId: id,
      taskId: id,
      reward: value === null ? null : 2 * value,
      rewards: [{ name: "em", value, at: null }],
    }),
  ),
});

describe("the history of a training", () => {
  it("keeps the mean of each reward by task and by step, without what could not be scored", () => {
    const history = openHistory(null);
    history.record(0, [group("a", [1, 0, null]), group("b", [1])]);
    history.record(1, [group("a", [0, 0])]);
    expect(history.visits("a").map(({ step, means }) => [step, means])).toEqual([
      [0, { reward: 1, em: 0.5 }],
      [1, { reward: 0, em: 0 }],
    ]);
    expect(history.visits("c")).toEqual([]);
    expect(history.mean("em", 1)).toBe(0);
    expect(history.mean("em", 2)).toBeCloseTo(2 / 3, 12);
    expect(history.mean("em", 3)).toBeNull();
    expect(history.mean("f1", 1)).toBeNull();
  });

  it("keeps the newest visits alone, and is the same after JSON", () => {
    const history = openHistory(null);
    for (let step = 0; step < 70; step++) history.record(step, [group("a", [1])]);
    const steps = history.visits("a").map(({ step }) => step);
    expect([steps.length, steps[0], steps.at(-1)]).toEqual([64, 6, 69]);
    const state = history.state();
    expect(openHistory(JSON.parse(JSON.stringify(state)) as typeof state).state()).toEqual(state);
  });
});
