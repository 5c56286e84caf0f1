import { describe, expect, it } from "vitest";
import { expectClose } from "../helpers/expect-close.ts";
import { runLoss, type LossRun } from "../helpers/run-loss.ts";

/** Three tokens whose ratios to the old policy are 1.5, .5 and 1.1, each weighing a third. */
const ratios = [1.5, 0.5, 1.1];
const oldLogprobs = [-1, -2, -0.5];
const logprobs = oldLogprobs.map((old, i) => old + Math.log(ratios[i]!));
const weights = [1 / 3, 1 / 3, 1 / 3];

function run(
  options: Record<string, unknown>,
  advantage: number,
  more: Record<string, number[]> = {},
): Promise<LossRun> {
  const advantages = weights.map(() => advantage);
  const fields = { weights, advantages, oldLogprobs, ...more };
  return runLoss("policy-gradient", options, logprobs, fields);
}

function third(...numbers: number[]): number[] {
  return numbers.map((each) => each / 3);
}

describe("the clipped ratio", () => {
  it("stops rewarding a good token above 1 + clipHigh", async () => {
    // −min(ρ, clip ρ): 1.5 → 1.2 and no gradient; .5 is below .8 and stays; 1.1 is inside. dρ/dlogπ = ρ.
    const { loss, gradient, metrics } = await run({}, 1);
    expect(loss).toBeCloseTo(-(1.2 + 0.5 + 1.1) / 3, 5);
    expectClose(gradient, third(0, -0.5, -1.1));
    expect(metrics["losses/clip_fraction"]).toBeCloseTo(1 / 3, 6);
  });

  it("stops punishing a bad token below 1 − clipLow", async () => {
    // A = −1: −min(−ρ, −clip ρ) = max(ρ, clip ρ): 1.5 stays, .5 → .8 and no gradient, 1.1 stays.
    const { loss, gradient, metrics } = await run({}, -1);
    expect(loss).toBeCloseTo((1.5 + 0.8 + 1.1) / 3, 5);
    expectClose(gradient, third(1.5, 0, 1.1));
    expect(metrics["losses/clip_fraction"]).toBeCloseTo(1 / 3, 6);
  });

  it("has borders of its own on each side", async () => {
    // [.4, 1.6] holds all three ratios; [.95, 1.05] cuts 1.5 and 1.1 of a good token, .5 of a bad one.
    const wide = await run({ clipLow: 0.6, clipHigh: 0.6 }, 2);
    expectClose(wide.gradient, third(-3, -1, -2.2));
    const narrow = await run({ clipLow: 0.05, clipHigh: 0.05 }, 1);
    expect(narrow.loss).toBeCloseTo(-(1.05 + 0.5 + 1.05) / 3, 5);
    expectClose(narrow.gradient, third(0, -0.5, 0));
    const asymmetric = await run({ clipLow: 0.6, clipHigh: 0.2 }, -1);
    expect(asymmetric.loss).toBeCloseTo((1.5 + 0.5 + 1.1) / 3, 5);
    expectClose(asymmetric.gradient, third(1.5, 0.5, 1.1));
    expect(asymmetric.metrics["losses/clip_fraction"]).toBe(0);
  });

  it("measures how far the policy has moved", async () => {
    // ρ − 1 − ln ρ: .5 − .405465, −.5 + .693147, .1 − .095310
    const { metrics } = await run({}, 1);
    const expected = (0.094535 + 0.193147 + 0.00469) / 3;
    expect(metrics["losses/approx_kl"]).toBeCloseTo(expected, 5);
  });

  it("stays finite however far the policies are apart", async () => {
    const fields = { weights: [1, 1], advantages: [-1, 1], oldLogprobs: [-90, -1] };
    const { loss, gradient } = await runLoss("policy-gradient", {}, [-1, -90], fields);
    // ρ is limited to e²⁰ and e⁻²⁰; a limited ratio passes no gradient.
    expect(loss / Math.exp(20)).toBeCloseTo(1, 5);
    expectClose(gradient, [0, 0]);
  });

  it("weighs tokens as told", async () => {
    const { loss, gradient } = await run({}, 1, { weights: [0, 1, 0.5] });
    expect(loss).toBeCloseTo(-(0.5 + 0.55), 5);
    expectClose(gradient, [0, -0.5, -0.55]);
  });
});

describe("dual clip", () => {
  it("limits what a bad token costs, and leaves good ones alone", async () => {
    // A = −2, c = 1.25: costs 3 → 2.5, 1.6 (clipped at .8) stays, 2.2 stays.
    const bad = await run({ dualClip: 1.25 }, -2);
    expect(bad.loss).toBeCloseTo((2.5 + 1.6 + 2.2) / 3, 5);
    expectClose(bad.gradient, third(0, 0, 2.2));
    const [good, plain] = [await run({ dualClip: 1.25 }, 1), await run({}, 1)];
    expect(good.loss).toBe(plain.loss);
    expect(good.gradient).toEqual(plain.gradient);
  });
});

describe("without a ratio", () => {
  it("is REINFORCE: −A · log π, and needs no old log-probabilities", async () => {
    const { loss, gradient, metrics } = await runLoss(
      "policy-gradient",
      { ratio: "none" },
      [-0.5, -1, -2],
      { weights: [0.5, 0.25, 0.25], advantages: [2, -1, 1] },
    );
    // .5 · (2 · .5) + .25 · (−1) + .25 · 2 = .75; each derivative is −weight · A.
    expect(loss).toBeCloseTo(0.75, 6);
    expectClose(gradient, [-1, 0.25, -0.25]);
    expect(metrics).toEqual({});
  });
});

describe("the KL penalty", () => {
  /** log π − log π_ref is .5, −.5 and 0. */
  const refLogprobs = logprobs.map((each, i) => each - [0.5, -0.5, 0][i]!);
  const penalised = (klEstimator: string): Promise<LossRun> =>
    run({ klCoef: 0.1, klEstimator }, 0, { refLogprobs });

  it("k1 is the difference", async () => {
    const { loss, gradient, metrics } = await penalised("k1");
    expect(loss).toBeCloseTo(0, 6);
    expectClose(gradient, third(0.1, 0.1, 0.1));
    expect(metrics["losses/kl"]).toBeCloseTo(0, 6);
  });

  it("k2 is half its square", async () => {
    const { loss, gradient, metrics } = await penalised("k2");
    expect(loss).toBeCloseTo((0.1 * 0.25) / 3, 6);
    expectClose(gradient, third(0.05, -0.05, 0));
    expect(metrics["losses/kl"]).toBeCloseTo(0.25 / 3, 6);
  });

  it("k3 is e⁻ᵈ + d − 1", async () => {
    // e^−.5 − .5 = .106531, e^.5 − 1.5 = .148721, 0; derivatives 1 − e⁻ᵈ: .393469, −.648721, 0.
    const { loss, gradient, metrics } = await penalised("k3");
    expect(loss).toBeCloseTo((0.1 * 0.255252) / 3, 6);
    expectClose(gradient, third(0.0393469, -0.0648721, 0), { atol: 1e-6 });
    expect(metrics["losses/kl"]).toBeCloseTo(0.255252 / 3, 5);
  });

  it("k3 is limited to 10 where a token all but vanished from the policy", async () => {
    const fields = { weights: [1], advantages: [0], oldLogprobs: [-50], refLogprobs: [-1] };
    const { loss, gradient } = await runLoss("policy-gradient", { klCoef: 1 }, [-50], fields);
    expect(loss).toBeCloseTo(10, 5);
    expectClose(gradient, [0]);
  });
});

describe("the entropy bonus", () => {
  it("is taken off the loss", async () => {
    // Each token's entropy is 1.5 here: .02 · 1.5 = .03.
    const [plain, bonus] = [await run({}, 1), await run({ entropyCoef: 0.02 }, 1)];
    expect(bonus.loss).toBeCloseTo(plain.loss - 0.03, 5);
    expect(bonus.metrics["losses/entropy"]).toBeCloseTo(1.5, 5);
  });
});

describe("an option outside its range", () => {
  it("is refused by name", async () => {
    await expect(run({ clipLow: 2 }, 1)).rejects.toThrowErrorMatchingInlineSnapshot(
      `[ConfigError: policy-gradient.clipLow is 2: expected at most 1.]`,
    );
    await expect(run({ klEstimator: "k4" }, 1)).rejects.toThrowErrorMatchingInlineSnapshot(
      `[ConfigError: policy-gradient.klEstimator is "k4": allowed: "k1", "k2", "k3".]`,
    );
    await expect(run({ clipHi: 0.3 }, 1)).rejects.toThrowErrorMatchingInlineSnapshot(
      `[ConfigError: policy-gradient.clipHi is not a key here. Did you mean "clipHigh"? Known: ratio, klCoef, clipLow, clipHigh, dualClip, importanceSamplingCap, klEstimator, entropyCoef.]`,
    );
  });
});
