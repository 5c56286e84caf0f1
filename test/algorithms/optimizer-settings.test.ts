import { describe, expect, it } from "vitest";
import { adamAt, optimizerSchema } from "../../src/algorithms/optimizer-settings.ts";

describe("adamAt", () => {
  it("gives every step the same settings when nothing is scheduled", () => {
    const settings = optimizerSchema.parse({});
    expect(adamAt(settings, 0, 10)).toEqual({
      learningRate: 1e-4,
      beta1: 0.9,
      beta2: 0.999,
      epsilon: 1e-8,
      weightDecay: 0,
      gradClipNorm: 1,
    });
    expect(adamAt(settings, 9, 10)).toEqual(adamAt(settings, 0, 10));
  });

  it("reads a scheduled learning rate at the step", () => {
    const learningRate = { schedule: "linear", from: 1, to: 0.5 };
    const settings = optimizerSchema.parse({ learningRate });
    const rates = [0, 1, 2].map((step) => adamAt(settings, step, 3).learningRate);
    expect(rates).toEqual([1, 0.75, 0.5]);
  });

  it("refuses a rate of 0 and a decay of 1 for the moments", () => {
    expect(optimizerSchema.safeParse({ learningRate: 0 }).success).toBe(false);
    expect(optimizerSchema.safeParse({ beta1: 1 }).success).toBe(false);
  });
});
