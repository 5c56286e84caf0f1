import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openLocalEngine, type LocalEngine } from "../../src/engine/local/local-engine.ts";
import { enginePolicy } from "../../src/rollout/policy.ts";
import { strategies } from "../../src/rollout/strategies/index.ts";
import { policyRows, weighted } from "../../src/algorithms/training-rows.ts";
import type { Trajectory } from "../../src/trajectory/trajectory.ts";
import { rolloutOptions, searchEnvironment } from "../helpers/search-world.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { tinyConfig, writeTinyModel } from "../helpers/tiny-model.ts";
import "../helpers/all-parts.ts";

const folder = temporaryFolder();
const environment = searchEnvironment({
  budgets: [
    { scope: "trajectory", unit: "turns", limit: 2, onExhausted: "final-turn" },
    { scope: "turn", unit: "tokens", limit: 40, onExhausted: "cut" },
  ],
});
/** Words that a model of random weights writes now and then. */
const hints = [
  { name: "opening", text: "so", messages: "every" },
  {
    name: "uncertainty",
    phrases: ["one", "two", "three", "the", "river"],
    text: "[1]",
    occurrence: "every",
    times: 3,
  },
];
let engine: LocalEngine;

beforeAll(async () => {
  await writeTinyModel(folder, { ...tinyConfig, maxPositions: 1024 });
  engine = await openLocalEngine({ model: folder, workers: 1, slots: 2 });
});

afterAll(() => engine.close());

function play(number: number): Promise<Trajectory> {
  const policy = enginePolicy(engine, engine.tokenizer);
  const sampling = { temperature: 1, topP: 1, topK: 0 };
  const about = { id: String(number), seed: 40 + number };
  const options = rolloutOptions({ policy, environment, sampling, ...about });
  return strategies.get("hint-infer", "test").run(options, { hints });
}

describe("messages of the local engine that are interrupted", () => {
  let trajectories: Trajectory[];
  beforeAll(async () => {
    trajectories = await Promise.all([0, 1, 2, 3, 4, 5].map(play));
  });

  it("hold hints between what the model wrote", () => {
    const interrupted = trajectories
      .flatMap(({ calls }) => calls)
      .filter(({ completion }) => completion.slice(1).some(({ owner }) => owner === "inserted"));
    expect(interrupted.length).toBeGreaterThan(1);
  });

  it("have log-probabilities that the engine computes again on the final sequence, to 1e-4", async () => {
    const rows = trajectories.flatMap((trajectory) => policyRows(trajectory));
    const computed = await engine.logprobs(rows.map((row) => weighted(row, 1)));
    let compared = 0;
    rows.forEach((row, r) => {
      row.lossMask.forEach((mask, i) => {
        if (mask === 0) return;
        expect(Math.abs(computed[r]![i]! - row.sampledLogprobs[i]!)).toBeLessThan(1e-4);
        compared += 1;
      });
    });
    expect(compared).toBeGreaterThan(100);
  });

  it("keep to the turn's budget with what was put into them, the opening apart", () => {
    for (const { calls } of trajectories) {
      for (const { completion } of calls) {
        const [first, ...rest] = completion;
        const own = first?.owner === "inserted" ? rest : completion;
        expect(own.reduce((sum, { ids }) => sum + ids.length, 0)).toBeLessThanOrEqual(40);
      }
    }
  });

  it("are the same bytes for the same seed, alone or among others", async () => {
    expect(JSON.stringify(await play(3))).toBe(JSON.stringify(trajectories[3]));
  });
});
