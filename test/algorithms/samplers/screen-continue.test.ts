import { describe, expect, it } from "vitest";
import { openHistory } from "../../../src/algorithms/history.ts";
import { samplers } from "../../../src/algorithms/samplers/index.ts";
import type { RolloutRequest, Sampler } from "../../../src/algorithms/samplers/sampler.ts";
import type { ScoredGroup } from "../../../src/algorithms/scored-group.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { answered, task } from "../../helpers/search-world.ts";
import "../../helpers/all-parts.ts";

const tasks = Array.from({ length: 12 }, (_, i): Task => ({ ...task, id: `t${i}` }));
const context = { tasks, seed: 1, promptsPerStep: 2, groupSize: 5 };
const history = openHistory(null);

function open(given: Record<string, unknown> = {}, state: unknown = null): Sampler {
  const part = samplers.get("screen-continue", "test");
  return part.open(part.options.parse({ screen: 2, screenedBatches: 2, ...given }), context, state);
}

/** Rollouts of a request, after those that its group has, with these rewards. */
function scored(
  request: RolloutRequest,
  rewards: readonly number[],
  known?: ScoredGroup,
): ScoredGroup {
  const { task: of, groupId, first = 0, earlier = known?.trajectories ?? [] } = request;
  const made = rewards.map((reward, i) =>
    answered("x", { id: `${groupId}-${first + i}`, groupId, taskId: of.id, reward }),
  );
  return { groupId, task: of, trajectories: [...earlier, ...made] };
}

const shown = (requests: readonly RolloutRequest[]): string[] =>
  requests.map(({ groupId, first = 0, rollouts, earlier = [] }) => {
    const ids = earlier.map(({ id }) => id).join(",");
    return `${groupId} ${first}+${rollouts}${ids === "" ? "" : ` after ${ids}`}`;
  });

/** A first step whose screenings were mixed, mixed, mixed, and all right. */
function firstStep(sampler: Sampler) {
  const screened = sampler.next(0, history);
  const groups = screened.map((each, i) => scored(each, i < 3 ? [1, 0] : [1, 1]));
  return { screened, groups, accepted: sampler.accept(groups, 0, 1) };
}

describe("screen-continue", () => {
  it("screens, then continues what is sometimes right, with the next screening in the same round", () => {
    const sampler = open();
    const { screened, groups, accepted } = firstStep(sampler);
    expect(shown(screened)).toEqual(["1-0 0+2", "1-1 0+2", "1-2 0+2", "1-3 0+2"]);
    expect(accepted.batch).toEqual([]);
    // A group of this step has its screened rollouts already; the third prompt waits, and one is less than a batch.
    expect(shown(accepted.more)).toEqual([
      ...["1-0 2+3", "1-1 2+3"],
      ...["1-4 0+2", "1-5 0+2", "1-6 0+2", "1-7 0+2"],
    ]);
    const second = [
      ...groups.map((group, i) => (i < 2 ? scored(accepted.more[i]!, [1, 0, 0], group) : group)),
      ...accepted.more.slice(2).map((each, i) => scored(each, i === 0 ? [0, 1] : [0, 0])),
    ];
    const { batch, more } = sampler.accept(second, 0, 2);
    expect(batch.map(({ groupId }) => groupId)).toEqual(["1-0", "1-1"]);
    expect(batch.map(({ trajectories }) => trajectories.length)).toEqual([5, 5]);
    expect(more).toEqual([]);
    // Two wait: the next step begins with their continuation, with the rollouts of this step.
    expect(shown(sampler.next(1, history)).slice(0, 3)).toEqual([
      "1-2 2+3 after 1-2-0,1-2-1",
      "1-4 2+3 after 1-4-0,1-4-1",
      "2-0 0+2",
    ]);
  });

  it("screens none while a whole batch waits, and none of the prompts that wait", () => {
    const sampler = open({ screenedBatches: 3 });
    const screened = sampler.next(0, history);
    const groups = screened.map((each) => scored(each, [1, 0]));
    const { more } = sampler.accept(groups, 0, 1);
    // Six qualified, two continue, four wait.
    expect(shown(more).map((each) => each.split(" ")[0])).toEqual(["1-0", "1-1"]);
    const complete = groups.map((group, i) => (i < 2 ? scored(more[i]!, [1, 1, 1]) : group));
    expect(sampler.accept(complete, 0, 2).more).toEqual([]);
    expect(shown(sampler.next(1, history))).toHaveLength(2);
    const later = sampler.next(2, history);
    expect(later).toHaveLength(2 + 6);
    const names = later.map(({ task: { id } }) => id);
    expect(new Set(names).size).toBe(names.length);
  });

  it("screens again where too few qualify, up to its rounds, and then trains on what it has", () => {
    const sampler = open({ maxRounds: 3, screenedBatches: 1 });
    let groups = sampler.next(0, history).map((each) => scored(each, [0, 0]));
    const again = sampler.accept(groups, 0, 1);
    expect(shown(again.more)).toEqual(["1-2 0+2", "1-3 0+2"]);
    groups = [...groups, ...again.more.map((each, i) => scored(each, i === 0 ? [1, 0] : [1, 1]))];
    const { more } = sampler.accept(groups, 0, 2);
    expect(shown(more).slice(0, 2)).toEqual(["1-2 2+3", "1-4 0+2"]);
    groups = groups.map((group, i) => (i === 2 ? scored(more[0]!, [0, 0, 0]) : group));
    groups = [...groups, ...more.slice(1).map((each) => scored(each, [0, 0]))];
    const last = sampler.accept(groups, 0, 3);
    expect([last.batch.map(({ groupId }) => groupId), last.more]).toEqual([["1-2"], []]);
  });

  it("judges by the mean of a named reward, strictly between the bounds", () => {
    const sampler = open({ reward: "f1", above: 0.25, below: 0.75 });
    const requests = sampler.next(0, history);
    const groups = requests.map((each) => scored(each, [1, 0]));
    // Means .25, .5, .75 and none.
    [[0.5, 0], [0.5, 0.5], [0.5, 1], []].forEach((values, g) => {
      values.forEach((value, i) =>
        groups[g]!.trajectories[i]!.rewards.push({ name: "f1", value, at: null }),
      );
    });
    const { more } = sampler.accept(groups, 0, 1);
    expect(more.flatMap(({ groupId, first }) => (first === undefined ? [] : [groupId]))).toEqual([
      "1-1",
    ]);
  });

  it("keeps the rollouts of prompts that wait in its state, and their task by its id", () => {
    const sampler = open();
    const { accepted, groups } = firstStep(sampler);
    sampler.accept([...groups.slice(2), ...accepted.more.slice(0, 2).map((each) => scored(each, [1, 1, 1]))], 0, 3); // prettier-ignore
    const state = JSON.parse(JSON.stringify(sampler.state())) as { waiting: object[] };
    expect(state).toMatchObject({
      place: 8,
      waiting: [{ groupId: "1-2", taskId: groups[2]!.task.id, trajectories: [{ id: "1-2-0" }, { id: "1-2-1" }] }], // prettier-ignore
    });
    expect(Object.keys(state.waiting[0]!)).toEqual(["taskId", "groupId", "trajectories"]);
    expect(open({}, state).next(1, history)).toEqual(sampler.next(1, history));
  });

  it("refuses a screening that leaves no rollout to continue with", () => {
    expect(() => open({ screen: 5 })).toThrow(errorWith("RECIPE_BAD_VALUE", /screen is 5/));
  });
});
