import { describe, expect, it } from "vitest";
import { openHistory } from "../../../src/algorithms/history.ts";
import { samplers } from "../../../src/algorithms/samplers/index.ts";
import { groupRequest, shuffledTasks } from "../../../src/algorithms/samplers/shuffled.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import { openDataset } from "../../../src/worlds/open-dataset.ts";
import { task } from "../../helpers/search-world.ts";
import "../../helpers/all-parts.ts";

const history = openHistory(null);

function mixed(sizes: Record<string, [size: number, weight: number]>): Task[] {
  return Object.entries(sizes).flatMap(([part, [size, weight]]) =>
    Array.from({ length: size }, (_, i): Task => {
      return { ...task, id: `${part}${i}`, annotations: { mixture: { part, weight } } };
    }),
  );
}

function batches(tasks: readonly Task[], promptsPerStep: number, steps: number): string[][] {
  const part = samplers.get("shuffled", "test");
  const context = { tasks, seed: 5, promptsPerStep, groupSize: 2 };
  const sampler = part.open(part.options.parse({}), context, null);
  return Array.from({ length: steps }, (_, step) =>
    sampler.next(step, history).map(({ task: { id } }) => id),
  );
}

const partsOf = (batch: readonly string[]): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const [part = ""] of batch) counts[part] = (counts[part] ?? 0) + 1;
  return counts;
};

describe("a mixture", () => {
  it("has its ratio in every batch, whatever the sizes of its parts", () => {
    // DeepResearcher's 1 : 1 : 3 : 3.
    const tasks = mixed({ a: [3, 1], b: [40, 1], c: [5, 3], d: [90, 3] });
    for (const batch of batches(tasks, 16, 20))
      expect(partsOf(batch)).toEqual({ a: 2, b: 2, c: 6, d: 6 });
  });

  it("follows the ratio as closely as a batch can be divided", () => {
    // Turns are due at ½, 1½ … and at 1/6, 3/6, 5/6 …; of two that are due at once the first part's comes first.
    const tasks = mixed({ a: [1, 1], b: [1, 3] });
    const [first, second, third] = batches(tasks, 2, 3);
    expect([first, second, third]).toEqual([["b0", "a0"], ["b0", "b0"], ["b0", "a0"]]); // prettier-ignore
    // Thirds that no batch of four divides: 4/3 and 8/3 of a batch, in all 4 and 8.
    const counts = batches(mixed({ a: [9, 0.5], b: [9, 1] }), 4, 3).map(partsOf);
    expect(counts).toEqual([{ a: 1, b: 3 }, { a: 2, b: 2 }, { a: 1, b: 3 }]); // prettier-ignore
  });

  it("takes every task of a part once per pass, in another order each", () => {
    const tasks = mixed({ a: [4, 1], b: [8, 1] });
    const all = batches(tasks, 4, 8).flat();
    const ofA = all.filter((id) => id.startsWith("a"));
    const passes = [ofA.slice(0, 4), ofA.slice(4, 8), ofA.slice(8, 12)];
    expect(passes.map((pass) => new Set(pass).size)).toEqual([4, 4, 4]);
    expect(new Set(passes.map(String)).size).toBeGreaterThan(1);
    expect(new Set(all.filter((id) => id.startsWith("b")).slice(0, 8)).size).toBe(8);
  });

  it("has the same task at a place however the places before were asked for", () => {
    const context = { tasks: mixed({ a: [3, 1], b: [5, 2] }), seed: 5, promptsPerStep: 2, groupSize: 2 }; // prettier-ignore
    const inOrder = shuffledTasks(context);
    const ids = Array.from({ length: 40 }, (_, place) => inOrder(place).id);
    const resumed = shuffledTasks(context);
    expect([39, 17, 18, 3].map((place) => resumed(place).id)).toEqual(
      [39, 17, 18, 3].map((place) => ids[place]),
    );
  });

  it("is the mixture of every sampler that takes tasks in this order", () => {
    const tasks = mixed({ a: [3, 1], b: [30, 3] });
    for (const name of ["refill", "success-band", "screen-continue", "greedy-baseline"]) {
      const part = samplers.get(name, "test");
      const context = { tasks, seed: 5, promptsPerStep: 8, groupSize: 6 };
      const requests = part.open(part.options.parse({}), context, null).next(0, history);
      const first = [...new Set(requests.map(({ task: { id } }) => id))].slice(0, 4);
      expect(partsOf(first), name).toEqual({ a: 1, b: 3 });
    }
  });
});

describe("few tasks", () => {
  it("fill a batch with copies, each a group of its own", () => {
    const [one, two] = mixed({ a: [2, 1] });
    const requests = (tasks: Task[]) => {
      const context = { tasks, seed: 1, promptsPerStep: 128, groupSize: 8 };
      const taskAt = shuffledTasks(context);
      return Array.from({ length: 128 }, (_, p) => groupRequest(context, taskAt(p), 0, p));
    };
    const copies = requests([one!]);
    expect(new Set(copies.map(({ task: { id } }) => id))).toEqual(new Set(["a0"]));
    expect(new Set(copies.map(({ groupId }) => groupId)).size).toBe(128);
    // Two examples: 64 copies of each.
    const ids = requests([one!, two!]).map(({ task: { id } }) => id);
    expect(ids.filter((id) => id === "a0")).toHaveLength(64);
  });

  it("are chosen by their rows, also from a pool with wrong labels", async () => {
    const pool = { easy: 0.4, medium: 0, hard: 0, mislabelled: 0.6 };
    const whole = await openDataset({ name: "numberworld", pool, questions: 100 }, "test");
    const tasks = await whole.tasks();
    const wrong = tasks.filter(({ annotations }) => annotations.stratum === "mislabelled");
    expect(Math.abs(wrong.length - 60)).toBeLessThanOrEqual(2);
    const rows = await openDataset({ name: "numberworld", pool, rows: [13, 2] }, "test");
    expect(await rows.tasks()).toEqual([tasks[13], tasks[2]]);
  });
});
