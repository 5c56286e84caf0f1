import { describe, expect, it } from "vitest";
import {
  criticMetrics,
  criticSchema,
  joinedLoss,
  requireOwnTokens,
  valueFields,
  type ValuedRow,
} from "../../src/algorithms/critic.ts";
import { policyRows } from "../../src/algorithms/training-rows.ts";
import { errorWith } from "../helpers/error-with.ts";
import { answered } from "../helpers/search-world.ts";

/** A prompt token, two of the policy's, one of the environment's, one more of the policy's: four targets. */
function row(values: number[], returns: number[]): ValuedRow {
  const call = (parent: number | null, owner: "template" | "environment", written: number) => ({
    parent,
    role: "policy",
    policyVersion: 0,
    finish: "eos" as const,
    prompt: [{ owner, ids: [1], logprobs: null }],
    completion: [
      { owner: "policy" as const, ids: Array(written).fill(2), logprobs: Array(written).fill(-1) },
    ],
  });
  const trajectory = answered("x", {
    calls: [call(null, "template", 2), call(0, "environment", 1)],
  });
  return { ...policyRows(trajectory)[0]!, values, returns };
}

const NOTHING = NaN;

describe("a critic's rows", () => {
  it("weigh every token at which it learns alike, whatever its row", () => {
    const fields = valueFields([
      row([1, 1, 1, 1], [1, 2, NOTHING, 3]),
      row([0, 0, 0, 0], [4, NOTHING, NOTHING, NOTHING]),
    ]);
    expect(fields.map(({ valueWeights }) => valueWeights)).toEqual([
      [0.25, 0.25, 0, 0.25],
      [0.25, 0, 0, 0],
    ]);
    expect(fields[0]!.returns).toEqual([1, 2, 0, 3]);
  });

  it("say how much of the returns it foresaw", () => {
    // Returns 1, 3: variance 2. Errors 0, 1: variance .5.
    const metrics = criticMetrics([row([1, 2, 9, 9], [1, 3, NOTHING, NOTHING])]);
    expect(metrics).toEqual({
      "critic/value_mean": 1.5,
      "critic/return_mean": 2,
      "critic/explained_variance": 0.75,
    });
    expect(criticMetrics([row([1, 2, 9, 9], [2, 2, NOTHING, NOTHING])])).not.toHaveProperty(
      "critic/explained_variance",
    );
  });
});

describe("a critic on the policy's trunk", () => {
  const shared = criticSchema.parse({ trunk: "shared" });
  const loss = { name: "gspo", options: {} };

  it("has its loss joined to the policy's; one of its own has not", () => {
    expect(joinedLoss(loss, shared).joined).toEqual({
      loss: { name: "value", options: { clip: 0.5, coef: 0.5 } },
      weights: "valueWeights",
    });
    expect(joinedLoss(loss, criticSchema.parse({}))).toEqual(loss);
  });

  it("cannot learn at the environment's tokens beside a loss over whole rows", () => {
    const everywhere = [row([0, 0, 0, 0], [1, 1, 1, 1])];
    const policys = [row([0, 0, 0, 0], [1, 1, NOTHING, 1])];
    const joined = joinedLoss(loss, shared);
    expect(() => {
      requireOwnTokens(joined, everywhere);
    }).toThrow(errorWith("RECIPE_BAD_VALUE", "gspo"));
    expect(() => {
      requireOwnTokens(joined, policys);
      requireOwnTokens({ ...joined, name: "policy-gradient" }, everywhere);
      requireOwnTokens(loss, everywhere);
    }).not.toThrow();
  });
});
