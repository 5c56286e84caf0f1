import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { expectClose } from "../helpers/expect-close.ts";
import { runLoss } from "../helpers/run-loss.ts";

interface Golden {
  options: { clipLow: number; clipHigh: number };
  oldLogprobs: number[];
  logprobs: number[];
  advantages: number[];
  loss: number;
  gradient: number[];
  clipFraction: number;
}

const file = join(import.meta.dirname, "../golden/cispo.json");
const { cases } = JSON.parse(readFileSync(file, "utf8")) as { cases: Golden[] };

describe("CISPO", () => {
  it("keeps a gradient for tokens that PPO's clip would drop", async () => {
    // ρ = 1.5 and .5 with A = 1: clipped to 1.2 and .8, and the gradient of −ρ̂ A log π is −ρ̂ A.
    const oldLogprobs = [-1, -2];
    const logprobs = [-1 + Math.log(1.5), -2 + Math.log(0.5)];
    const fields = { weights: [0.5, 0.5], advantages: [1, 1], oldLogprobs };
    const { loss, gradient, metrics } = await runLoss("cispo", {}, logprobs, fields);
    expect(loss).toBeCloseTo(-(1.2 * logprobs[0]! + 0.8 * logprobs[1]!) / 2, 5);
    expectClose(gradient, [-0.6, -0.4]);
    expect(metrics["losses/clip_fraction"]).toBe(1);
  });

  it.each(cases)("equals verl's with $options", async (golden) => {
    const { options, oldLogprobs, logprobs, advantages } = golden;
    const weights = logprobs.map(() => 1 / logprobs.length);
    const fields = { weights, advantages, oldLogprobs };
    const { loss, gradient, metrics } = await runLoss("cispo", options, logprobs, fields);
    expect(loss).toBeCloseTo(golden.loss, 5);
    expectClose(gradient, golden.gradient);
    expect(metrics["losses/clip_fraction"]).toBeCloseTo(golden.clipFraction, 6);
  });
});
