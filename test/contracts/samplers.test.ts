import { describe, expect, it } from "vitest";
import { filters } from "../../src/algorithms/filters/index.ts";
import { openHistory } from "../../src/algorithms/history.ts";
import { samplers } from "../../src/algorithms/samplers/index.ts";
import type { RolloutRequest, Sampler } from "../../src/algorithms/samplers/sampler.ts";
import type { ScoredGroup } from "../../src/algorithms/scored-group.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { random } from "../../src/base/random.ts";
import { answered, task } from "../helpers/search-world.ts";
import "../helpers/all-parts.ts";

const tasks = Array.from({ length: 7 }, (_, i): Task => ({ ...task, id: `t${i}` }));
const context = { tasks, seed: 3, promptsPerStep: 3, groupSize: 6 };

/** Rollouts whose rewards derive from their ids alone; some cannot be scored. */
function play(request: RolloutRequest): ScoredGroup {
  const { task: of, groupId, rollouts, first = 0, purpose = "train", earlier = [] } = request;
  const trajectories = Array.from({ length: rollouts }, (_, k) => {
    const draw = random(`${groupId}-${first + k}`).next();
    const reward = draw < 0.1 ? null : Number(draw < 0.6);
    const id = `${groupId}-${first + k}`;
    return answered("x", { id, groupId, taskId: of.id, purpose, reward });
  });
  return { groupId, task: of, trajectories: [...earlier, ...trajectories] };
}

/** Runs steps with a sampler. @returns the groups of each step's batch, each with its rollouts. */
function run(sampler: Sampler, history = openHistory(null), steps = [0, 1, 2, 3]): string[][] {
  return steps.map((step) => {
    const groups: ScoredGroup[] = [];
    let requests = sampler.next(step, history);
    let batch: readonly ScoredGroup[] = [];
    for (let round = 1; requests.length > 0; round++) {
      expect(round).toBeLessThan(100);
      for (const played of requests.map(play)) {
        const known = groups.find(({ groupId }) => groupId === played.groupId);
        if (known === undefined) groups.push(played);
        else known.trajectories = [...known.trajectories, ...played.trajectories];
      }
      ({ batch, more: requests } = sampler.accept(groups, step, round));
      for (const group of batch) expect(groups).toContain(group);
    }
    history.record(step, groups);
    const ids = groups.flatMap(({ trajectories }) => trajectories.map(({ id }) => id));
    expect(new Set(ids).size).toBe(ids.length);
    return batch.map(
      ({ groupId, task: of, trajectories }) =>
        `${groupId} ${of.id}: ${trajectories.map(({ id }) => id).join(" ")}`,
    );
  });
}

describe.each(samplers.parts.map((part) => ({ name: part.name, part })))(
  "sampler $name",
  ({ part }) => {
    const open = (state: unknown = null): Sampler =>
      part.open(part.options.parse({}), context, state);

    it("ends each step with a batch of groups that it asked for, under names of their own", () => {
      expect(run(open()).flat().length).toBeGreaterThan(0);
    });

    it("asks for the same again under the same seed", () => {
      expect(run(open())).toEqual(run(open()));
    });

    it("has a baseline in each group, or in none, as it says", () => {
      const requests = open().next(0, openHistory(null));
      const groupsOf = (wanted: RolloutRequest["purpose"]): string[] =>
        requests.flatMap(({ purpose, groupId }) => (purpose === wanted ? [groupId] : []));
      expect(groupsOf(undefined).length).toBeGreaterThanOrEqual(context.promptsPerStep);
      expect(groupsOf("baseline")).toEqual(part.givesBaselines === true ? groupsOf(undefined) : []);
    });

    it("continues from its state, through JSON, as if it had not stopped", () => {
      const whole = run(open());
      for (const killedAfter of [1, 2, 3]) {
        const before = { sampler: open(), history: openHistory(null) };
        const first = run(before.sampler, before.history, [0, 1, 2].slice(0, killedAfter));
        const state = JSON.parse(
          JSON.stringify([before.sampler.state(), before.history.state()]),
        ) as [unknown, ReturnType<typeof before.history.state>];
        // What it does until it is killed is lost.
        run(before.sampler, before.history, [killedAfter]);
        const rest = [1, 2, 3].slice(killedAfter - 1);
        const second = run(open(state[0]), openHistory(state[1]), rest);
        expect([...first, ...second]).toEqual(whole);
      }
    });
  },
);

describe.each(filters.parts.map((part) => ({ name: part.name, part })))(
  "filter $name",
  ({ part }) => {
    const groups = tasks.map((of, i) => play({ task: of, groupId: `g${i}`, rollouts: 4 }));
    const keep = (given: readonly ScoredGroup[]) => part.keep(given, part.options.parse({}));

    it("keeps some of the groups, in their order, and changes none", () => {
      const before = structuredClone(groups);
      const kept = keep(groups);
      expect(groups.filter((group) => kept.includes(group))).toEqual(kept);
      expect(groups).toEqual(before);
    });

    it("takes a batch of none, and groups that nothing could score", () => {
      expect(keep([])).toEqual([]);
      const unscored = groups.map((group) => ({
        ...group,
        trajectories: group.trajectories.map((each) => ({ ...each, reward: null })),
      }));
      expect(keep(unscored).length).toBeLessThanOrEqual(unscored.length);
    });
  },
);
