import { describe, expect, it, vi } from "vitest";
import { trainingGraph } from "../../src/engine/local/training-graph.ts";
import { losses, needsReference } from "../../src/losses/index.ts";
import { algorithms, readsReference } from "../../src/algorithms/index.ts";
import { errorWith } from "../helpers/error-with.ts";
import { tinyConfig } from "../helpers/tiny-model.ts";
import "../helpers/all-parts.ts";

const policyGradient = losses.get("policy-gradient", "test");

describe("a loss says what it reads", () => {
  it("entropy only where its coefficient is not 0", () => {
    expect(policyGradient.reads({})).toEqual(["logprobs"]);
    expect(policyGradient.reads({ entropyCoef: 0.01 })).toEqual(["logprobs", "entropy"]);
    expect(losses.get("cross-entropy", "test").reads({})).toEqual(["logprobs"]);
  });

  it("a reference only where the KL coefficient is not 0", () => {
    expect(needsReference({ name: "policy-gradient", options: {} })).toBe(false);
    expect(needsReference({ name: "policy-gradient", options: { klCoef: 0.1 } })).toBe(true);
    expect(needsReference({ name: "cross-entropy", options: {} })).toBe(false);
  });

  it("and an algorithm what its losses and its estimator read", () => {
    const grpo = algorithms.get("grpo", "test").options.parse({ klCoef: 0 });
    expect(readsReference({ name: "grpo", ...grpo })).toBe(false);
    expect(readsReference({ name: "grpo", ...grpo, klCoef: 0.1 })).toBe(true);
  });

  it("an output that it reads all the same is an error with its name", () => {
    const reads = vi.spyOn(policyGradient, "reads").mockReturnValue(["logprobs"]);
    const shape = { tokens: 4, batch: 1, length: 4, scored: 3 };
    const loss = { name: "policy-gradient", options: { entropyCoef: 0.1 } };
    expect(() => trainingGraph(tinyConfig, shape, loss)).toThrow(
      errorWith("LOSS_READS_UNDECLARED", "entropy"),
    );
    reads.mockRestore();
  });
});
