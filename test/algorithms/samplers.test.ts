import { describe, expect, it } from "vitest";
import { openHistory } from "../../src/algorithms/history.ts";
import { samplers } from "../../src/algorithms/samplers/index.ts";
import type { RolloutRequest, Sampler } from "../../src/algorithms/samplers/sampler.ts";
import type { ScoredGroup } from "../../src/algorithms/scored-group.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { answered, task } from "../helpers/search-world.ts";
import "../helpers/all-parts.ts";

const tasks = Array.from({ length: 6 }, (_, i): Task => ({ ...task, id: `t${i}` }));
const context = { tasks, seed: 1, promptsPerStep: 2, groupSize: 2 };

function open(name: string, given: Record<string, unknown> = {}, state: unknown = null): Sampler {
  const part = samplers.get(name, "test");
  return part.open(part.options.parse(given), context, state);
}

/** Rollouts of a request, with these rewards. */
function scored({ task: of, groupId }: RolloutRequest, rewards: readonly number[]): ScoredGroup {
  const trajectories = rewards.map((reward, i) =>
    answered("x", { id: `${groupId}-${i}`, groupId, taskId: of.id, reward }),
  );
  return { groupId, task: of, trajectories };
}

const idsOf = (requests: readonly RolloutRequest[]): string[] => requests.map((r) => r.task.id);

describe("shuffled", () => {
  it("takes every task once per pass, in another order each", () => {
    const sampler = open("shuffled");
    const passes = [0, 1].map((pass) =>
      [0, 1, 2].flatMap((i) => idsOf(sampler.next(pass * 3 + i, openHistory(null)))),
    );
    expect(passes.map((each) => new Set(each).size)).toEqual([6, 6]);
    expect(passes[0]).not.toEqual(passes[1]);
  });

  it("asks for whole groups whose names tell step and place", () => {
    expect(open("shuffled").next(4, openHistory(null))).toMatchObject([
      { groupId: "5-0", rollouts: 2 },
      { groupId: "5-1", rollouts: 2 },
    ]);
  });
});

describe("greedy-baseline", () => {
  it("asks for one greedy rollout more per group, which is not trained", () => {
    expect(open("greedy-baseline").next(0, openHistory(null)).slice(0, 2)).toMatchObject([
      { groupId: "1-0", rollouts: 2 },
      { groupId: "1-0", first: 2, rollouts: 1, purpose: "baseline", sampling: { temperature: 0 } },
    ]);
  });
});

describe("refill", () => {
  it("asks for as many further groups as are all right or all wrong, and then has its batch", () => {
    const sampler = open("refill");
    const first = sampler.next(0, openHistory(null));
    const groups = [scored(first[0]!, [1, 1]), scored(first[1]!, [1, 0])];
    const { batch, more } = sampler.accept(groups, 0, 1);
    expect(batch).toEqual([groups[1]]);
    expect(more.map(({ groupId }) => groupId)).toEqual(["1-2"]);
    expect(idsOf(first)).not.toContain(more[0]?.task.id);
    const complete = sampler.accept([...groups, scored(more[0]!, [0, 1])], 0, 2);
    expect(complete.batch.map(({ groupId }) => groupId)).toEqual(["1-1", "1-2"]);
    expect(complete.more).toEqual([]);
  });

  it("trains on a smaller batch after its last round", () => {
    const sampler = open("refill", { maxRounds: 1 });
    const groups = sampler.next(0, openHistory(null)).map((each) => scored(each, [0, 0]));
    expect(sampler.accept(groups, 0, 1)).toEqual({ batch: [], more: [] });
  });

  it("judges by a named reward where it is told to", () => {
    const sampler = open("refill", { reward: "em", maxRounds: 1 });
    const [request] = sampler.next(0, openHistory(null));
    const group = scored(request!, [5, 7]);
    group.trajectories.forEach((each, i) => each.rewards.push({ name: "em", value: i, at: null }));
    expect(sampler.accept([group], 0, 1).batch).toEqual([group]);
  });
});

describe("success-band", () => {
  it("passes over tasks that were too easy or too hard, until they are due again", () => {
    const sampler = open("success-band", { retryAfter: 3 });
    const history = openHistory(null);
    const seen = [0, 1, 2].map((step) => {
      const requests = sampler.next(step, history);
      // t0 and t1 are always right; the others half.
      history.record(
        step,
        requests.map((each) => scored(each, ["t0", "t1"].includes(each.task.id) ? [1, 1] : [1, 0])),
      );
      return idsOf(requests);
    });
    expect(new Set(seen.flat()).size).toBe(6);
    const easyAt = seen.findIndex((each) => each.includes("t0"));
    const later = [3, 4].flatMap((step) => {
      const requests = idsOf(sampler.next(step, history));
      return step - easyAt < 3 ? requests : [];
    });
    expect(later).not.toContain("t0");
  });
});
