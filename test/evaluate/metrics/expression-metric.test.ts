import { expect, it } from "vitest";
import { expressionMetric } from "../../../src/evaluate/metrics/expression-metric.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { rewardContext, scoreWith } from "../../helpers/reward-context.ts";
import { answered, task } from "../../helpers/search-world.ts";

/** The value of an expression for a draw whose rewards have these values. */
async function valueOf(of: string, values: Record<string, number | null>): Promise<unknown> {
  const rewards = Object.entries(values).map(([name, value]) => ({ name, value, at: null }));
  const scored = [{ task, trajectory: answered("Oslo", { rewards }) }];
  const [value] = await scoreWith(expressionMetric, scored, { of }, rewardContext({}));
  return value;
}

const GAP = "(strict or known(verdict) and verdict) - correct";

it("computes with the rewards of a draw: what a verifier pays beyond an oracle", async () => {
  expect(await valueOf(GAP, { strict: 0, verdict: 1, correct: 0 })).toBe(1);
  expect(await valueOf(GAP, { strict: 0, verdict: 0, correct: 1 })).toBe(-1);
  expect(await valueOf(GAP, { strict: 1, verdict: 0, correct: 1 })).toBe(0);
  expect(await valueOf(GAP, { strict: 0, verdict: null, correct: 0 })).toBe(0);
});

it("has no value where it needs an unknown one, and refuses a name that no reward has", async () => {
  expect(await valueOf("verdict - 1", { verdict: null })).toBeNull();
  await expect(valueOf("oracle - 1", { verdict: 1 })).rejects.toThrow(
    errorWith("PART_UNKNOWN", "oracle"),
  );
});
