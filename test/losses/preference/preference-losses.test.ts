import { describe, expect, it } from "vitest";
import { preferenceLosses } from "../../../src/losses/preference/index.ts";
import type { ComparedSide, PairLoss } from "../../../src/losses/preference/preference-loss.ts";

type Pair = Record<"chosen" | "rejected", ComparedSide>;

const side = (logprob: number, reference: number, tokens: number): ComparedSide => ({
  logprob,
  reference,
  tokens,
});

function lossOf(name: string, pair: Pair, options: object = {}): PairLoss {
  const part = preferenceLosses.get(name, "test");
  return part.pairLoss(pair, part.options.parse(options));
}

/** Chosen: 4 tokens, +1 nat on the reference; rejected: 2 tokens, −1 nat. */
const pair: Pair = { chosen: side(-4, -5, 4), rejected: side(-3, -2, 2) };

describe.each(preferenceLosses.names)("%s", (name) => {
  const variants: object[] = [{}, { beta: 0.7 }];
  if (name === "dpo") variants.push({ beta: 0.5, labelSmoothing: 0.2 });
  if (name === "ipo") variants.push({ perToken: false });

  it.each(variants)("has the derivatives of its own value: %j", (options) => {
    for (const of of ["chosen", "rejected"] as const) {
      const moved = (by: number): number => {
        const at = { ...pair, [of]: { ...pair[of], logprob: pair[of].logprob + by } };
        return lossOf(name, at, options).loss;
      };
      const numeric = (moved(1e-5) - moved(-1e-5)) / 2e-5;
      expect(lossOf(name, pair, options).gradients[of]).toBeCloseTo(numeric, 7);
    }
  });

  it("falls when the chosen text becomes likelier, and stays finite far out", () => {
    expect(lossOf(name, pair).gradients.chosen).toBeLessThan(0);
    for (const far of [-1e4, -1e-12]) {
      const at = { chosen: side(far, 0, 4), rejected: side(-1e4 - far, 0, 4) };
      const { loss, gradients } = lossOf(name, at);
      expect([loss, gradients.chosen, gradients.rejected].every(Number.isFinite)).toBe(true);
    }
  });
});

describe("dpo", () => {
  it("is log 2 where the policy is the reference, pulling either side by half of beta", () => {
    const { loss, gradients } = lossOf("dpo", {
      chosen: side(-5, -5, 3),
      rejected: side(-1, -1, 3),
    });
    expect(loss).toBeCloseTo(Math.log(2), 12);
    expect(gradients).toEqual({ chosen: -0.05, rejected: 0.05 });
  });

  it("is −log σ of beta times the difference of log-ratios, whatever the lengths", () => {
    const { loss, rewards } = lossOf("dpo", pair);
    expect(rewards).toEqual({ chosen: 0.1, rejected: -0.1 });
    // log(1 + e^−0.2)
    expect(loss).toBeCloseTo(0.598139, 6);
  });

  it("mixes in the flipped pair by the smoothing", () => {
    // .8 · log(1 + e^−.2) + .2 · log(1 + e^.2)
    expect(lossOf("dpo", pair, { labelSmoothing: 0.2 }).loss).toBeCloseTo(0.638139, 6);
  });
});

describe("ipo", () => {
  it("draws the difference of the mean log-ratios to 1 / (2 beta)", () => {
    // 1/4 + 1/2 − 5 = −4.25
    expect(lossOf("ipo", pair).loss).toBeCloseTo(18.0625, 10);
    expect(lossOf("ipo", pair).gradients).toEqual({ chosen: -2.125, rejected: 4.25 });
    // 1 + 1 − 5 = −3
    expect(lossOf("ipo", pair, { perToken: false }).loss).toBeCloseTo(9, 10);
  });
});

describe("simpo", () => {
  it("compares mean log-probabilities and asks for a margin", () => {
    // 2 · (−1 + 1.5) − 1 = 0
    const { loss, gradients } = lossOf("simpo", pair);
    expect(loss).toBeCloseTo(Math.log(2), 12);
    expect(gradients).toEqual({ chosen: -0.25, rejected: 0.5 });
  });
});

describe("orpo", () => {
  it("adds the likelihood of the chosen to its odds against the rejected", () => {
    // p = ½, q = ¼: log odds 0 and −log 3; log 2 + .1 · log(1 + ⅓)
    const half = side(-2 * Math.log(2), 0, 2);
    const quarter = side(-2 * Math.log(4), 0, 2);
    const { loss } = lossOf("orpo", { chosen: half, rejected: quarter });
    expect(loss).toBeCloseTo(Math.log(2) + 0.1 * Math.log(4 / 3), 12);
  });
});
