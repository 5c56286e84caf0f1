import { describe, expect, it } from "vitest";
import { parameterCount } from "../../../src/models/parameters.ts";
import {
  type CompiledGraphs,
  rowOf,
  updateSeconds,
  updateWork,
} from "../../../src/recipe/probe/training-cost.ts";
import { tinyConfig } from "../../helpers/tiny-model.ts";

const setting = {
  ...{ config: tinyConfig, workers: 1, microBatchTokens: 64, epochs: 1, minibatches: 1 },
  ...{ scorings: 0, scoresAll: true },
};

const graphs = (workers = 1) => Array.from({ length: workers }, (): CompiledGraphs => new Map());

/** 32 tokens in a micro-batch of 2 × 32, all of them scored. */
const row = { tokens: 33, written: 10 };
const embeddings = 300 * 32;
const unit = (batch: number): number =>
  batch * 32 * (parameterCount(tinyConfig) - embeddings) +
  2 * 2 * 4 * 8 * batch * 32 * 32 +
  batch * 32 * embeddings;

describe("the work of an update", () => {
  it("counts matrices, attention and scores of each micro-batch, padding included", () => {
    const work = updateWork([row, row, row, row], setting, graphs());
    expect(work).toEqual({
      ...{ learned: 2 * unit(2), scored: 0, optimizerSteps: 1 },
      compiled: { learn: 1, score: 0 },
    });
  });

  it("is that of the busiest worker", () => {
    const work = updateWork([row, row, row, row], { ...setting, workers: 2 }, graphs(2));
    expect(work.learned).toBe(unit(2));
  });

  it("goes through the batch once for each epoch, and once for each model that scores it", () => {
    const own = graphs();
    const twice = { ...setting, epochs: 2, minibatches: 2, scorings: 1 };
    const work = updateWork([row, row, row, row], twice, own);
    expect(work).toEqual({
      ...{ learned: 4 * unit(2), scored: 2 * unit(2), optimizerSteps: 4 },
      compiled: { learn: 1, score: 1 },
    });
    // What is compiled stays.
    expect(updateWork([row], setting, own).compiled).toEqual({ learn: 1, score: 0 });
    expect(updateWork([row], setting, own).compiled).toEqual({ learn: 0, score: 0 });
  });

  it("takes what its parts take", () => {
    const work = {
      ...{ learned: 10, scored: 20, optimizerSteps: 2 },
      compiled: { learn: 3, score: 4 },
    };
    const speed = { learn: 1, score: 2, compile: { learn: 100, score: 1000 }, optimizer: 0.5 };
    expect(updateSeconds(work, speed)).toBe(10 + 40 + 300 + 4000 + 1);
  });
});

describe("a row of a length", () => {
  it("scores as many tokens as the policy wrote, and has the loss's fields", () => {
    const { inputs, fields } = rowOf({ tokens: 5, written: 2 }, false, ["weights", "advantages"]);
    expect(inputs).toHaveLength(4);
    expect(fields).toEqual({ weights: [0, 0, 0.25, 0.25], advantages: [0, 0, 0, 0] });
  });
});
