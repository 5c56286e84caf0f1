import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { mismatchKl } from "../../src/algorithms/rollout-metrics.ts";
import { policyRows } from "../../src/algorithms/training-rows.ts";
import { expectClose } from "../helpers/expect-close.ts";
import { runLoss } from "../helpers/run-loss.ts";
import { answered } from "../helpers/search-world.ts";

interface Golden {
  options: Record<string, number>;
  sampledLogprobs: number[];
  oldLogprobs: number[];
  logprobs: number[];
  advantages: number[];
  loss: number;
  gradient: number[];
  weight: number;
  truncatedShare: number;
  kl: number;
}

const file = join(import.meta.dirname, "../golden/importance-sampling.json");
const { cases } = JSON.parse(readFileSync(file, "utf8")) as { cases: Golden[] };

describe("truncated importance sampling", () => {
  it("weighs a token by what the trainer would have sampled, up to the cap", async () => {
    // π_old / π_sampled is 4 → 2 and .5; ρ is 1, so that the gradient is −weight · A.
    const logprobs = [-1, -2];
    const sampledLogprobs = [-1 - Math.log(4), -2 + Math.log(2)];
    const fields = { weights: [0.5, 0.5], advantages: [1, 1], oldLogprobs: logprobs };
    const { loss, gradient, metrics } = await runLoss(
      ...(["policy-gradient", { importanceSamplingCap: 2 }, logprobs] as const),
      { ...fields, sampledLogprobs },
    );
    expect(loss).toBeCloseTo(-1.25, 5);
    expectClose(gradient, [-1, -0.25]);
    expect(metrics["mismatch/weight"]).toBeCloseTo(1.25, 5);
    expect(metrics["mismatch/truncated_share"]).toBeCloseTo(0.5, 6);
  });

  it.each(cases)("equals verl's with $options", async (golden) => {
    const { options, sampledLogprobs, oldLogprobs, logprobs, advantages } = golden;
    const weights = logprobs.map(() => 1 / logprobs.length);
    const fields = { weights, advantages, oldLogprobs, sampledLogprobs };
    const { loss, gradient, metrics } = await runLoss("policy-gradient", options, logprobs, fields);
    expect(loss).toBeCloseTo(golden.loss, 5);
    expectClose(gradient, golden.gradient);
    expect(metrics["mismatch/weight"]).toBeCloseTo(golden.weight, 5);
    expect(metrics["mismatch/truncated_share"]).toBeCloseTo(golden.truncatedShare, 6);
  });

  it.each(cases)(
    "its KL equals verl's k3 with $options",
    ({ sampledLogprobs, oldLogprobs, kl }) => {
      const ids = sampledLogprobs.map((_, i) => i);
      const call = {
        parent: null,
        role: "policy",
        policyVersion: 0,
        finish: "eos" as const,
        prompt: [{ owner: "template" as const, ids: [9], logprobs: null }],
        completion: [{ owner: "policy" as const, ids, logprobs: sampledLogprobs }],
      };
      const found = mismatchKl(policyRows(answered("x", { calls: [call] })), [
        Float32Array.from(oldLogprobs),
      ]);
      expect(found / kl).toBeCloseTo(1, 5);
    },
  );
});
