import { describe, expect, it } from "vitest";
import { likeliest } from "../../../src/synth/steps/ranking.ts";
import { applyStep, candidate, outcome } from "../../helpers/drawn-candidates.ts";

const draws = [
  candidate("poor", { scores: { "answer-likelihood": -3 } }),
  candidate("good", { scores: { "answer-likelihood": -0.2 }, reward: 0 }),
  candidate("fair", { scores: { "answer-likelihood": -1 } }),
  candidate("unknown"),
];

describe("likeliest", () => {
  it("keeps the draw after which the answer is likeliest, right or wrong", async () => {
    expect(outcome(await applyStep(likeliest, draws))).toEqual({
      kept: ["good"],
      dropped: ["poor: less likely", "fair: less likely", "unknown: no answer-likelihood"],
    });
  });

  it("keeps several in the order that they were drawn in, by another score", async () => {
    expect(outcome(await applyStep(likeliest, draws, { keep: 2 })).kept).toEqual(["good", "fair"]);
    const byReward = { by: "reward", keep: 3 };
    expect(outcome(await applyStep(likeliest, draws, byReward)).kept).toEqual([
      ...["poor", "fair", "unknown"],
    ]);
  });

  it("decides ties by the seed", async () => {
    const equal = ["a", "b", "c"].map((id) =>
      candidate(id, { scores: { "answer-likelihood": -1 } }),
    );
    const winners = new Set<string>();
    for (let seed = 0; seed < 30; seed++) {
      const { kept } = outcome(await applyStep(likeliest, equal, {}, { seed }));
      expect(outcome(await applyStep(likeliest, equal, {}, { seed })).kept).toEqual(kept);
      winners.add(kept.join());
    }
    expect([...winners].sort()).toEqual(["a", "b", "c"]);
  });
});
