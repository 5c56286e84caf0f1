import { describe, expect, it } from "vitest";
import { importanceWeights } from "../../../src/synth/steps/ranking.ts";
import type { Candidate } from "../../../src/trajectory/sample.ts";
import { applyStep, candidate, outcome } from "../../helpers/drawn-candidates.ts";

async function weigh(draws: readonly Candidate[], options: object = {}): Promise<number[]> {
  const { kept } = await applyStep(importanceWeights, draws, { ...options });
  return kept.map(({ weight }) => weight);
}

const likelihood = (id: string, sum: number, mean = sum, weight = 1) =>
  candidate(id, { scores: { "answer-likelihood-sum": sum, "answer-likelihood": mean }, weight });

describe("importance-weights", () => {
  it("gives each draw its share of the answer's likelihood", async () => {
    const draws = [likelihood("a", Math.log(0.3)), likelihood("b", Math.log(0.1))];
    const [a, b] = await weigh(draws);
    expect(a).toBeCloseTo(0.75, 12);
    expect(b).toBeCloseTo(0.25, 12);
    expect(await weigh(draws.slice(0, 1))).toEqual([1]);
  });

  it("loses nothing where likelihoods are too small for exp", async () => {
    const draws = [-1000, -1000 - Math.log(3)].map((log, i) => likelihood(`${i}`, log));
    const [a, b] = await weigh(draws);
    expect(a).toBeCloseTo(0.75, 9);
    expect(b).toBeCloseTo(0.25, 9);
  });

  it("multiplies a plain likelihood by four, each draw by itself", async () => {
    // Mean cross-entropies 0.5 and 2: 4·e^-0.5 = 2.4261…, 4·e^-2 = 0.5413…
    const draws = [likelihood("a", -5, -0.5), likelihood("b", -20, -2)];
    const [a, b] = await weigh(draws, { scale: "plain" });
    expect(a).toBeCloseTo(2.42612263885, 10);
    expect(b).toBeCloseTo(0.54134113295, 10);
    expect(
      await weigh(draws, { scale: "plain", factor: 1, score: "answer-likelihood-sum" }),
    ).toEqual([...[Math.exp(-5), Math.exp(-20)]]);
  });

  it("multiplies a weight that is there", async () => {
    const draws = [likelihood("a", 0, 0, 2), likelihood("b", 0, 0, 1)];
    expect(await weigh(draws)).toEqual([1, 0.5]);
  });

  it("drops draws whose likelihood is not known and changes none in place", async () => {
    const draws = [likelihood("a", -1), candidate("b")];
    const before = structuredClone(draws);
    const result = await applyStep(importanceWeights, draws);
    expect(outcome(result)).toEqual({ kept: ["a"], dropped: ["b: no answer-likelihood-sum"] });
    expect(draws).toEqual(before);
    expect(await weigh([])).toEqual([]);
  });
});
