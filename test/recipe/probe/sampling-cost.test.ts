import { describe, expect, it } from "vitest";
import { freshSampling, samplingSeconds } from "../../../src/recipe/probe/sampling-cost.ts";
import type { TrajectoryShape } from "../../../src/recipe/probe/trajectory-shape.ts";

/** A step is 1 s, a run of a prompt 10 s, compiling 100 s. */
const speed = {
  step: { base: 1, perPosition: 0 },
  fill: { base: 10, perToken: 0 },
  ...{ compile: 0, factor: 1 },
};

const shape = (group: string, ...calls: [number, number][]): TrajectoryShape => ({
  group,
  calls: calls.map(([read, written], i) => ({ read, written, anew: i === 0 })),
});

const seconds = (shapes: readonly TrajectoryShape[], slots: number, workers = 1): number =>
  samplingSeconds(shapes, speed, { workers, slots, window: Infinity }, freshSampling());

describe("the time of sampling", () => {
  it("is one step a token for all slots together, and a run for each prompt", () => {
    // Two prompts; the longer message has 8 tokens.
    expect(seconds([shape("a", [5, 3]), shape("b", [5, 8])], 2)).toBe(10 + 10 + 8);
  });

  it("has one after the other where slots are fewer", () => {
    expect(seconds([shape("a", [5, 3]), shape("b", [5, 8])], 1)).toBe(10 + 3 + 10 + 8);
  });

  it("computes the prompt that a group shares once", () => {
    expect(seconds([shape("a", [5, 3]), shape("a", [5, 8])], 2)).toBe(10 + 8);
  });

  it("reads what a message was answered in the same slot", () => {
    // 130 tokens are a piece of 128 and one of 16.
    expect(seconds([shape("a", [5, 3], [130, 4])], 1)).toBe(10 + 3 + 20 + 4);
  });

  it("deals trajectories to workers in turn, and waits for the slower", () => {
    const shapes = [shape("a", [5, 3]), shape("b", [5, 8]), shape("c", [5, 2])];
    expect(seconds(shapes, 1, 2)).toBe(10 + 3 + 10 + 2);
  });

  it("keeps no more under way than there may be together", () => {
    const setting = { workers: 1, slots: 8, window: 1 };
    const shapes = [shape("a", [5, 3]), shape("b", [5, 8])];
    expect(samplingSeconds(shapes, speed, setting, freshSampling())).toBe(10 + 3 + 10 + 8);
  });

  it("compiles a graph once for each length of the cache, over several calls", () => {
    const state = freshSampling();
    const slow = { ...speed, compile: 100 };
    const setting = { workers: 1, slots: 1, window: Infinity };
    const again = () => samplingSeconds([shape("a", [5, 3])], slow, setting, state);
    // Of the prompt and of a step, in a cache of 64.
    expect(again()).toBe(200 + 13);
    expect(again()).toBe(13);
    // 65 tokens need a cache of 128: a piece of 128, a step.
    expect(samplingSeconds([shape("b", [65, 1])], slow, setting, state)).toBe(200 + 11);
  });

  it("takes longer with a longer cache, and by what real rollouts took", () => {
    const long = { ...speed, step: { base: 1, perPosition: 0.5 }, factor: 2 };
    const setting = { workers: 1, slots: 1, window: Infinity };
    expect(samplingSeconds([shape("a", [5, 2])], long, setting, freshSampling())).toBe(
      2 * (10 + 2 * (1 + 32)),
    );
  });
});
