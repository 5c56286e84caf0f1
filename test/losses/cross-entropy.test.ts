import { describe, expect, it } from "vitest";
import { expectClose } from "../helpers/expect-close.ts";
import { runLoss } from "../helpers/run-loss.ts";

describe("cross-entropy", () => {
  it("is the weighted sum of negative log-probabilities", async () => {
    // .5 · .5 + .25 · 1 + .25 · 2 = 1; each derivative is −weight.
    const weights = [0.5, 0.25, 0.25];
    const run = await runLoss("cross-entropy", {}, [-0.5, -1, -2], { weights });
    expect(run.loss).toBeCloseTo(1, 6);
    expectClose(run.gradient, [-0.5, -0.25, -0.25]);
    expect(run.metrics).toEqual({});
  });

  it("knows no options", async () => {
    const run = runLoss("cross-entropy", { labelSmoothing: 0.1 }, [-1], { weights: [1] });
    await expect(run).rejects.toMatchObject({ code: "RECIPE_UNKNOWN_KEY" });
  });
});
