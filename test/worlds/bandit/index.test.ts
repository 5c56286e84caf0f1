import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import type { Split } from "../../../src/base/split.ts";
import { sampleVariance } from "../../../src/base/statistics.ts";
import type { Episode } from "../../../src/env/environments/environment.ts";
import { noneRetriever } from "../../../src/retrieval/controls/none.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import { environments } from "../../../src/worlds/datasets.ts";
import "../../helpers/all-parts.ts";

const bandit = environments.get("bandit", "test");
const resources = { retriever: noneRetriever() };
const playing = { final: false, signal: new AbortController().signal };
const TWO = { rounds: [{ pays: [0, 1, 0.5] }, { pays: [2], luck: 3 }] };

function tasksOf(split: Split, count: number, seed = 7): Task[] {
  const drawn: Task[] = [];
  for (const task of bandit.tasks?.(TWO, { split, seed }) ?? []) {
    if (drawn.push(task) === count) break;
  }
  return drawn;
}

function start(seed = 1, options: unknown = TWO): Episode {
  const [task] = tasksOf("train", 1);
  if (task === undefined) throw new Error("no task");
  return bandit.create(options, resources).start(task, { trajectoryId: "one", seed });
}

const pull = (arm: string) => `<action> ${arm}</action>`;

describe("bandit", () => {
  it("shows the arms of each round, pays by the arm, and ends after the last round", async () => {
    const episode = start(1, { rounds: [{ pays: [0, 1, 0.5] }, { pays: [2] }] });
    expect(episode.prompt).toMatch(/^Machine \d+: 1 2 3\n$/);
    const first = await episode.step(pull("3"), playing);
    expect(first).toMatchObject({ reward: 0.5, end: null, observations: [{ text: "1" }] });
    const last = await episode.step(pull("1"), playing);
    expect(last).toMatchObject({ reward: 2, end: "done", reply: null });
  });

  it("makes a problem of an arm that is none, and stays in the round", async () => {
    const episode = start();
    const { reward, observations } = await episode.step(pull("4"), playing);
    expect(reward).toBe(0);
    expect(observations).toMatchObject([{ text: "1 2 3", problem: { code: "no-such-arm" } }]);
    expect(await episode.step(pull("2"), playing)).toMatchObject({ reward: 1 });
  });

  it("adds luck by the episode's seed, which no arm and no earlier pull moves", async () => {
    const paid = async (seed: number, first: string): Promise<number> => {
      const episode = start(seed);
      await episode.step(pull(first), playing);
      return (await episode.step(pull("1"), playing)).reward ?? 0;
    };
    expect(await paid(5, "1")).toBe(await paid(5, "2"));
    const payments = await Promise.all(Array.from({ length: 400 }, (_, seed) => paid(seed, "1")));
    // Mean 2 and deviation 3, within three standard errors.
    expect(Math.abs(payments.reduce((sum, each) => sum + each, 0) / 400 - 2)).toBeLessThan(0.45);
    expect(Math.abs(Math.sqrt(sampleVariance(payments)) - 3)).toBeLessThan(0.32);
  });

  it("draws tasks that no other split has", () => {
    const train = tasksOf("train", 50).map(({ id }) => id);
    const test = tasksOf("test", 50).map(({ id }) => id);
    expect(new Set([...train, ...test]).size).toBe(100);
    expect(tasksOf("train", 1, 8)).not.toEqual(tasksOf("train", 1, 7));
  });

  it("has a player that pulls any arm that is shown", () => {
    const [task] = tasksOf("train", 1);
    const { player } = bandit.create(TWO, resources);
    if (task === undefined || player === undefined) throw new Error("nothing to play");
    const pulled = Array.from({ length: 60 }, (_, seed) => {
      const draw = random(seed);
      return player({ task, turns: [], tools: ["action"] }, draw).action.input;
    });
    expect([...new Set(pulled)].sort()).toEqual(["1", "2", "3"]);
  });
});
