import { describe, expect, it } from "vitest";
import { bestWorstPairs } from "../../../src/synth/steps/pairs.ts";
import { applyStep, candidate } from "../../helpers/drawn-candidates.ts";

const draws = [
  candidate("half", { reward: 0.5 }),
  candidate("none", { reward: 0 }),
  candidate("full", { reward: 1 }),
  candidate("unscored", { reward: null, scores: { liking: 9 } }),
];

async function pairsOf(...[candidates, options, seed]: [typeof draws, object?, number?]) {
  const result = await applyStep(bestWorstPairs, candidates, { ...options }, { seed });
  // All draws go on, whatever pairs they stand in.
  expect(result.kept).toEqual(candidates);
  expect(result.dropped).toEqual([]);
  return (result.pairs ?? []).map(({ id, chosen, rejected, margin, fromTurn }) => {
    expect(fromTurn).toBeUndefined();
    return { id, chosen: chosen.id, rejected: rejected.id, margin };
  });
}

describe("best-worst-pairs", () => {
  it("pairs the draw of the highest reward with that of the lowest", async () => {
    expect(await pairsOf(draws)).toEqual([
      { id: "full>none", chosen: "full", rejected: "none", margin: 1 },
    ]);
  });

  it("makes no pair of a question whose draws are all equal, or that has one", async () => {
    const equal = [candidate("a", { reward: 0.5 }), candidate("b", { reward: 0.5 })];
    expect(await pairsOf(equal)).toEqual([]);
    expect(await pairsOf(draws.slice(0, 1))).toEqual([]);
    expect(await pairsOf([])).toEqual([]);
  });

  it("asks for a margin, and for values of both", async () => {
    const near = draws.slice(0, 2);
    expect(await pairsOf(near, { leastMargin: 0.5 })).toHaveLength(1);
    expect(await pairsOf(near, { leastMargin: 0.6 })).toEqual([]);
    const selfCritic = { chosenAtLeast: 1, rejectedBelow: 1 };
    expect(await pairsOf(near, selfCritic)).toEqual([]);
    expect(await pairsOf(draws, selfCritic)).toHaveLength(1);
  });

  it("compares by a score", async () => {
    const scored = [candidate("a", { scores: { liking: -2 } }), ...draws.slice(3)];
    expect(await pairsOf(scored, { by: "liking" })).toEqual([
      { id: "unscored>a", chosen: "unscored", rejected: "a", margin: 11 },
    ]);
  });

  it("decides ties by the seed", async () => {
    const tied = [1, 1, 0, 0].map((reward, i) => candidate(`${i}`, { reward }));
    const found = new Set<string>();
    for (let seed = 0; seed < 60; seed++) {
      const [pair] = await pairsOf(tied, {}, seed);
      expect(await pairsOf(tied, {}, seed)).toEqual([pair]);
      found.add(pair!.id);
    }
    expect([...found].sort()).toEqual(["0>2", "0>3", "1>2", "1>3"]);
  });
});
