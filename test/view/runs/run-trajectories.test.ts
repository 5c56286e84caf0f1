import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { inwards, sampleTrajectories } from "../../../src/view/runs/run-trajectories.ts";
import { readRolledBack } from "../../../src/view/runs/run-parts.ts";
import { searchTrajectory } from "../../helpers/report-folder.ts";
import { writeRun } from "../../helpers/run-folder.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const folder = temporaryFolder();

/** Three draws of each question, of reward 0, 1 and 0.5. */
const drawn = (ids: readonly string[]) =>
  ids.flatMap((id) =>
    [0, 1, 0.5].map((reward, sample) => ({
      ...searchTrajectory({ id, question: `${id}?`, em: 0, sample }),
      reward,
    })),
  );

describe("sampleTrajectories", () => {
  it("takes of a step the same questions in every run, of each the highest and the lowest reward", async () => {
    const ids = ["a", "b", "c", "d"];
    const [one, other] = [ids, [...ids].reverse()].map((own, i) =>
      writeRun(join(folder, `run${i}`), { trajectories: { 1: drawn(own) } }),
    );
    const bounds = { perStep: 4, characters: 1e6 };
    const [a, b] = [
      await sampleTrajectories({ folder: one ?? "" }, bounds),
      await sampleTrajectories({ folder: other ?? "" }, bounds),
    ];
    expect(a.steps[0]?.trajectories.map(({ reward }) => reward)).toEqual([1, 0, 1, 0]);
    const tasks = a.steps[0]?.trajectories.map(({ taskId }) => taskId);
    expect(b.steps[0]?.trajectories.map(({ taskId }) => taskId)).toEqual(tasks);
  });

  it("stays within its bound, taking the last and the first step before those between", async () => {
    const steps = Object.fromEntries([1, 2, 3, 4, 5].map((step) => [step, drawn(["a"])]));
    const run = writeRun(join(folder, "long"), { trajectories: steps });
    const size = JSON.stringify(drawn(["a"]).slice(1)).length;
    const sample = await sampleTrajectories(
      { folder: run },
      { perStep: 2, characters: 1.5 * size },
    );
    expect([sample.steps.map(({ step }) => step), sample.stepsThere]).toEqual([[1, 5], 5]);
    expect(
      (await sampleTrajectories({ folder: run }, { perStep: 0, characters: 1e6 })).steps,
    ).toEqual([]);
  });

  it("takes what a return took back after what stands, and puts it before what came in its place", async () => {
    const text = drawn(["a"])
      .map((each) => JSON.stringify(each))
      .join("\n");
    const run = writeRun(join(folder, "back"), {
      trajectories: { 1: drawn(["a"]), 2: drawn(["a"]) },
      files: {
        "rolled-back/1/trajectories/step-2.jsonl": text,
        "rolled-back/2/trajectories/step-2.jsonl": text,
      },
    });
    const from = { folder: run, rolledBack: await readRolledBack(run) };
    const sample = await sampleTrajectories(from, { perStep: 2, characters: 1e6 });
    expect(sample.steps.map(({ step, takenBack }) => [step, takenBack])).toEqual([
      ...[
        [1, null],
        [2, 1],
        [2, 2],
        [2, null],
      ],
    ]);
    expect(sample.stepsThere).toBe(4);
    const size = JSON.stringify(drawn(["a"]).slice(1)).length;
    const less = await sampleTrajectories(from, { perStep: 2, characters: 1.5 * size });
    expect(less.steps.map(({ takenBack }) => takenBack)).toEqual([null, null]);
  });
});

describe("inwards", () => {
  it("gives every position once", () => {
    expect([0, 1, 2, 5].map(inwards)).toEqual([[], [0], [1, 0], [4, 0, 2, 1, 3]]);
    expect(inwards(37).sort((a, b) => a - b)).toEqual(Array.from({ length: 37 }, (_, i) => i));
  });
});
