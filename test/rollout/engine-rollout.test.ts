import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { policyRows, weighted } from "../../src/algorithms/training-rows.ts";
import { writeJson } from "../../src/base/files.ts";
import { type LocalEngine, openLocalEngine } from "../../src/engine/local/local-engine.ts";
import { flatten, writeCheckpoint } from "../../src/models/checkpoint.ts";
import { type DecoderConfig, plainFeatures } from "../../src/models/config.ts";
import { initialWeights } from "../../src/models/initialise.ts";
import { enginePolicy } from "../../src/rollout/policy.ts";
import { rollOut } from "../../src/rollout/roll-out.ts";
import { type Trajectory, sequenceIds } from "../../src/trajectory/trajectory.ts";
import { rolloutOptions, searchEnvironment, tagTokenizerFiles } from "../helpers/search-world.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const config: DecoderConfig = {
  ...plainFeatures,
  architecture: "llama",
  vocabSize: 288,
  hiddenSize: 32,
  layers: 2,
  heads: 2,
  kvHeads: 1,
  headDim: 16,
  intermediateSize: 64,
  normEpsilon: 1e-5,
  ropeTheta: 10_000,
  tiedEmbeddings: false,
  maxPositions: 256,
};
const environment = searchEnvironment({
  budgets: [
    { scope: "trajectory", unit: "turns", limit: 3, onExhausted: "final-turn" },
    { scope: "turn", unit: "tokens", limit: 24, onExhausted: "cut" },
    { scope: "observation", unit: "tokens", limit: 40, onExhausted: "cut" },
  ],
});
/** Fewer places than sequences: they wait and are refilled. */
let engine: LocalEngine;

beforeAll(async () => {
  const { tokenizer, config: tokenizerConfig } = tagTokenizerFiles();
  await writeJson(join(folder, "tokenizer.json"), tokenizer);
  await writeJson(join(folder, "tokenizer_config.json"), tokenizerConfig);
  const named = new Map(initialWeights(config, 3).map((tensor) => [tensor.name, tensor]));
  // Wider than fresh weights, so that distributions are far from flat.
  const head = named.get("lm_head.weight")!.data;
  for (let i = 0; i < head.length; i++) head[i]! *= 6;
  const weights = flatten(config, named, folder);
  await writeCheckpoint(folder, { config, weights }, { dtype: "F32", tokenizerFrom: folder });
  engine = await openLocalEngine({ model: folder, workers: 2, slots: 2 });
});

afterAll(() => engine.close());

const sampled = { temperature: 1, topP: 1, topK: 0 };

/** One of eight trajectories, the same one whenever it has the same number. */
function play(number: number): Promise<Trajectory> {
  const policy = enginePolicy(engine, engine.tokenizer);
  const id = String(number);
  const options = { policy, environment, sampling: sampled, id, seed: 100 + number };
  return rollOut(rolloutOptions(options));
}

function playEight(): Promise<Trajectory[]> {
  return Promise.all(Array.from({ length: 8 }, (_, number) => play(number)));
}

describe("rollOut with the local engine", () => {
  let trajectories: Trajectory[];
  beforeAll(async () => {
    trajectories = await playEight();
  });

  it("plays several turns, in which the environment answers", () => {
    const turns = trajectories.map((trajectory) => trajectory.turns.length);
    expect(Math.max(...turns)).toBeGreaterThan(1);
    for (const { calls } of trajectories) {
      for (const { completion } of calls) {
        for (const { ids, logprobs } of completion) {
          expect(logprobs).toHaveLength(ids.length);
          expect(logprobs!.every((each) => each <= 0)).toBe(true);
        }
      }
    }
  });

  it("records log-probabilities that the trainer computes as well, to 1e-4", async () => {
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
    expect(compared).toBe(rows.reduce((sum, row) => sum + row.trainedTokens, 0));
    expect(compared).toBeGreaterThan(300);
  });

  it("gives the same bytes for the same seeds", async () => {
    expect(JSON.stringify(await playEight())).toBe(JSON.stringify(trajectories));
  });

  it("gives a trajectory alone the bytes that it had among others", async () => {
    expect(JSON.stringify(await play(5))).toBe(JSON.stringify(trajectories[5]));
  });

  it("shows the model exactly the recorded tokens: greedy continuations of a recorded prefix are the recorded ones", async () => {
    const policy = enginePolicy(engine, engine.tokenizer);
    const greedy = { temperature: 0, topP: 1, topK: 0 };
    const { calls } = await rollOut(
      rolloutOptions({ policy, environment, sampling: greedy, id: "greedy" }),
    );
    const last = calls.length - 1;
    const written = calls[last]!.completion.flatMap(({ ids }) => ids);
    const promptIds = sequenceIds(calls, last).slice(0, -written.length);
    const again = await engine.sample({
      promptIds,
      ...greedy,
      maxTokens: written.length,
      seed: 0,
      sequence: null,
      stopIds: [],
      stopStrings: [],
    });
    expect(again.ids).toEqual(written);
  });
});
