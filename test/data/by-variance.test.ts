import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openHistory } from "../../src/algorithms/history.ts";
import { openDataset } from "../../src/worlds/open-dataset.ts";
import { errorWith } from "../helpers/error-with.ts";
import { answered } from "../helpers/search-world.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const of = { name: "numberworld", questions: 5 };
const tasks = await (await openDataset(of, "test")).tasks();

/**
 * Means of two rollouts by question and visit. Population variances: 0: 0, 1: (¼ + 0 + ¼) / 3 = .167, 2: ¼ over two visits, 3: seen once,
 * 4: of 1, ½, ½ the mean is ⅔, so (1/9 + 1/36 + 1/36) / 3 = .056.
 */
const VISITS = [[0.5, 0.5, 0.5], [0, 0.5, 1], [1, 0], [0], [1, 0.5, 0.5]];

/** The folder of a training that saw the questions so, as its newest checkpoint keeps it. */
async function trained(name: string, visits: readonly (readonly number[])[]): Promise<string> {
  const history = openHistory(null);
  for (let step = 0; step < 3; step++) {
    const groups = visits.flatMap((means, i) => {
      const mean = means[step];
      if (mean === undefined) return [];
      const rewards = [mean > 0 ? 1 : 0, mean > 0.5 ? 1 : 0];
      const trajectories = rewards.map((value) =>
        answered("x", { reward: 2 * value, rewards: [{ name: "em", value, at: null }] }),
      );
      return [{ groupId: `${step}-${i}`, task: tasks[i]!, trajectories }];
    });
    history.record(step, groups);
    const path = join(folder, name, "checkpoints", `step-${9 + step}`);
    await mkdir(path, { recursive: true });
    const state = { history: history.state(), sampler: null };
    await writeFile(join(path, "method-state.json"), JSON.stringify(state));
  }
  return join(folder, name);
}

const rows = await trained("run", VISITS);

async function placesOf(options: Record<string, unknown>): Promise<number[]> {
  const dataset = await openDataset({ name: "by-variance", of, rows, ...options }, "test");
  return (await dataset.tasks()).map(({ id }) => tasks.findIndex((task) => task.id === id));
}

describe("dataset by-variance", () => {
  it.each([
    [{}, [2]],
    [{ questions: 4 }, [2, 1, 4, 0]],
    [{ ranks: [3, 1] }, [4, 2]],
    [{ questions: 2, reward: "em" }, [2, 1]],
  ])("takes, with %o, the questions %o by the variance of their visits", async (given, places) => {
    expect(await placesOf(given)).toEqual(places);
  });

  it("reads evaluations as epochs alike, the earlier question first where variances are equal", async () => {
    const files = [
      [0, 1, 1],
      [1, 0, 1],
    ].map(async (epoch, n) => {
      const path = join(folder, `epoch-${n}.jsonl`);
      const lines = epoch.map((em, i) => JSON.stringify({ ...tasks[i], em }));
      await writeFile(path, lines.join("\n"));
      return path;
    });
    expect(await placesOf({ rows: await Promise.all(files), questions: 3 })).toEqual([0, 1, 2]);
  });

  it("has a fingerprint of its ranks and of the training", async () => {
    const open = (given: Record<string, unknown>) =>
      openDataset({ name: "by-variance", of, rows, ...given }, "test");
    const other = await trained("other", [[0, 1]]);
    const made = [{}, { questions: 2 }, { ranks: [1] }, { rows: other }].map(open);
    const prints = (await Promise.all(made)).map(({ fingerprint }) => fingerprint);
    expect(prints[2]).toBe(prints[0]);
    expect(new Set(prints).size).toBe(3);
  });

  it("refuses ranks that there are not, and trainings that say nothing of the questions", async () => {
    await expect(placesOf({ ranks: [5] })).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", /no question of rank 5: 4 of the 5 questions have two epochs/),
    );
    await expect(placesOf({ reward: "f1" })).rejects.toThrow(
      errorWith("DATA_EMPTY", /has no reward "f1". Known: reward, em/),
    );
    await expect(placesOf({ of: { ...of, seed: 8 } })).rejects.toThrow(
      errorWith("DATA_EMPTY", /of its 5 questions none is among the 5 of the dataset/),
    );
    await expect(placesOf({ rows: folder })).rejects.toThrow(
      errorWith("FILE_MISSING", /without a checkpoint that holds a training's history/),
    );
  });
});
