import { describe, expect, it } from "vitest";
import { diversePolicyGradient } from "../../src/losses/diverse-policy-gradient.ts";
import { expectClose } from "../helpers/expect-close.ts";
import { runLoss } from "../helpers/run-loss.ts";

const oldLogprobs = [-1, -1, -2];
const logprobs = [-2, -1, -2];
const fields = {
  weights: [0.5, 0.25, 0.25],
  advantages: [0, 0, 0],
  oldLogprobs,
  correct: [1, 1, 0],
};

describe("policy gradient with a diversity term", () => {
  it("adds ρ log π of right answers, and its gradient flows through both", async () => {
    // ρ log π is e⁻¹ · −2 and 1 · −1; derivatives ρ (log π + 1) are −e⁻¹ and 0. The third answer is wrong.
    const found = await runLoss("diverse-policy-gradient", { diversityCoef: 1 }, logprobs, fields);
    const [first, second] = [0.5 * Math.exp(-1) * -2, 0.25 * -1];
    expect(found.loss).toBeCloseTo(first + second, 6);
    expect(found.metrics["losses/diversity"]).toBeCloseTo(first + second, 6);
    expectClose(found.gradient, [-0.5 * Math.exp(-1), 0, 0]);
  });

  it("counts all answers where it is told to", async () => {
    const options = { diversityCoef: 0.1, diversityOn: "all" };
    const { loss, gradient } = await runLoss("diverse-policy-gradient", options, logprobs, fields);
    expect(loss).toBeCloseTo(0.1 * (0.5 * Math.exp(-1) * -2 - 0.25 - 0.5), 6);
    expectClose(gradient, [0.1 * -0.5 * Math.exp(-1), 0, 0.1 * 0.25 * -1]);
  });

  it("reads the entropy and the reference where the policy gradient would", () => {
    expect(diversePolicyGradient.reads({ entropyCoef: 0.1 })).toEqual(["logprobs", "entropy"]);
    expect(diversePolicyGradient.needsReference({ klCoef: 0.1, diversityCoef: 1 })).toBe(true);
    expect(diversePolicyGradient.needsReference({ diversityOn: "all" })).toBe(false);
  });

  it("is the policy gradient with λ 0", async () => {
    const given = { ...fields, advantages: [1, -1, 0.5], refLogprobs: [-1.5, -1, -2] };
    const options = { clipHigh: 0.1, klCoef: 0.2 };
    const plain = await runLoss("policy-gradient", options, logprobs, given);
    const diverse = await runLoss("diverse-policy-gradient", { ...options, diversityCoef: 0 }, logprobs, given); // prettier-ignore
    expect(diverse.loss).toBe(plain.loss);
    expectClose(diverse.gradient, [...plain.gradient]);
  });
});
