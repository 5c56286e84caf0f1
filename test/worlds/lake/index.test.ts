import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import type { Split } from "../../../src/base/split.ts";
import { noneRetriever } from "../../../src/retrieval/controls/none.ts";
import { scriptedPolicy } from "../../../src/rollout/policy.ts";
import { rollOut } from "../../../src/rollout/roll-out.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import { environments } from "../../../src/worlds/datasets.ts";
import "../../helpers/all-parts.ts";
import {
  corpus,
  rolloutOptions,
  searchEnvironment,
  tokenizer,
} from "../../helpers/search-world.ts";

const frozenLake = environments.get("frozen-lake", "test");
const resources = { retriever: noneRetriever() };
const playing = { final: false, signal: new AbortController().signal };
const lake = (options = {}, map = "P.O\n..G\nO..", seed = 1) => {
  const task: Task = { id: "lake", question: map, references: [], source: "test", annotations: {} };
  const environment = frozenLake.create(options, resources);
  return { task, environment, episode: environment.start(task, { trajectoryId: "one", seed }) };
};
const move = (way: string) => `<move> ${way}</move>`;

describe("frozen-lake", () => {
  it("moves the player, pays 1 at the goal, and tells how it ended", async () => {
    const { episode } = lake();
    expect(episode.prompt).toBe("P.O\n..G\nO..\n");
    const first = await episode.step(move("down"), playing);
    expect(first).toMatchObject({ reward: 0, status: "ice", end: null });
    expect(first.reply).toContain("..O\nP.G\nO..");
    await episode.step(move("right"), playing);
    const last = await episode.step(move("right"), playing);
    expect(last).toMatchObject({ reward: 1, status: "goal", end: "done", reply: null });
  });

  it("ends in a hole without a reward, and at the last message", async () => {
    const { episode } = lake();
    await episode.step(move("down"), playing);
    const branch = episode.fork();
    expect(await episode.step(move("down"), playing)).toMatchObject({
      reward: 0,
      status: "hole",
      end: "done",
    });
    expect(await branch.step(move("down"), { ...playing, final: true })).toMatchObject({
      observations: [],
      status: "limit",
      end: "turn-limit",
    });
  });

  it("makes a problem of a move that is none, or leads off the map, and stays", async () => {
    for (const [way, code] of [
      ["sideways", "bad-move"],
      ["up", "off-the-map"],
    ] as const) {
      const [observation] = (await lake().episode.step(move(way), playing)).observations;
      expect(observation).toMatchObject({ text: "P.O\n..G\nO..", problem: { code } });
    }
  });

  it("puts the moves that were made in place of the message, whose tokens were then not sampled", async () => {
    const { environment, task } = lake({ canonical: true, movesPerTurn: 3 });
    const messages = [move("down sideways right"), move("right right")];
    const policy = scriptedPolicy(tokenizer, ({ turns }) => messages[turns.length] ?? "");
    const trajectory = await rollOut(rolloutOptions({ policy, environment, task }));
    expect(trajectory.turns.map(({ text }) => text)).toEqual([move("down"), move("right right")]);
    expect(trajectory.turns[0]?.observations[0]?.problem?.code).toBe("bad-move");
    const [rewritten, kept] = trajectory.calls.map(({ completion }) => completion);
    const ids = tokenizer.encode(move("down"));
    expect(rewritten).toEqual([{ owner: "policy", ids, logprobs: null }]);
    expect(kept?.[0]?.logprobs).not.toBeNull();
  });

  it("makes as many moves of a message as the recipe allows, up to the end", async () => {
    const all = move("down right right up");
    expect(await lake({ movesPerTurn: 4 }).episode.step(all, playing)).toMatchObject({
      status: "goal",
      end: "done",
    });
    expect(await lake().episode.step(all, playing)).toMatchObject({ status: "ice" });
  });

  it("slips as its seed says: alike for equal seeds and in forks", async () => {
    const path = async (seed: number): Promise<string[]> => {
      const { episode } = lake({ slip: 0.8 }, "P...\n....\n....\n...G", seed);
      const texts: string[] = [];
      for (const way of ["right", "down", "right", "down"]) {
        const forked = await episode.fork().step(move(way), playing);
        const step = await episode.step(move(way), playing);
        expect(step).toEqual(forked);
        texts.push(step.observations[0]?.text ?? "");
      }
      return texts;
    };
    expect(await path(3)).toEqual(await path(3));
    expect(new Set(await Promise.all([1, 2, 3, 4].map(path))).size).toBe(4);
  });

  it("draws maps with a path, alike for equal seeds and apart by split", () => {
    const maps = (split: Split): string[] => {
      const all = frozenLake.tasks?.({ size: 4, holes: 0.5 }, { split, seed: 7 }) ?? [];
      const questions: string[] = [];
      for (const { question } of all) if (questions.push(question) === 20) break;
      return questions;
    };
    expect(maps("train")).toEqual(maps("train"));
    const seen = new Set(maps("train"));
    expect([...maps("dev"), ...maps("test")].some((map) => seen.has(map))).toBe(false);
    for (const map of maps("train")) {
      expect(map).toMatch(/^P[.O]{3}\n[.O]{4}\n[.O]{4}\n[.O]{3}G$/);
      expect(map).toContain("O");
    }
  });

  it("shares no map between splits on a small lake either, and says where a split has none", () => {
    const maps = (options: object, split: Split): Set<string> => {
      const questions = new Set<string>();
      let left = 500;
      for (const { question } of frozenLake.tasks?.(options, { split, seed: 7 }) ?? []) {
        questions.add(question);
        if (--left === 0) break;
      }
      return questions;
    };
    const [train, test] = [maps({ holes: 0.15 }, "train"), maps({ holes: 0.15 }, "test")];
    expect([...test].some((map) => train.has(map))).toBe(false);
    const none = (["train", "dev", "test"] as const).filter((split) => {
      try {
        return maps({ size: 2, holes: 0 }, split).size === 0;
      } catch (error) {
        expect(error).toMatchObject({ code: "RECIPE_BAD_VALUE" });
        return true;
      }
    });
    expect(none).toHaveLength(2);
  });

  it("has a player whose moves stay on the map", () => {
    const { environment, task } = lake();
    const { player } = environment;
    for (let i = 0; i < 20; i++) {
      const place = { task, turns: [], tools: ["move"] };
      const { action } = player!(place, random("player").derive(i));
      expect(["right", "down"]).toContain(action.input);
    }
  });

  it("records rewards and states on turns, without an answer", async () => {
    const { environment, task } = lake();
    const ways = ["down", "right", "right"];
    const policy = scriptedPolicy(tokenizer, ({ turns }) => move(ways[turns.length] ?? "up"));
    const trajectory = await rollOut(rolloutOptions({ policy, environment, task }));
    expect(trajectory).toMatchObject({ end: "done", answer: null });
    expect(trajectory.turns.map(({ reward, status }) => [reward, status])).toEqual([
      [0, "ice"],
      [0, "ice"],
      [1, "goal"],
    ]);
  });

  it("needs no retriever, which an environment with search does", () => {
    expect(frozenLake.needs({})).toEqual([]);
    expect(lake().environment.searching).toBeUndefined();
    expect(searchEnvironment({}, corpus).searching).toBeDefined();
  });
});
