import type { KeptResults, KeptRun } from "../../src/evaluate/claims/kept-results.ts";

/** Kept results of a recipe "made" with one claim of two arms and one seed. */
export function keptResults(): KeptResults {
  const run = (arm: string, key: string): KeptRun => ({
    ...{ key, seed: 1, arms: [`wins/${arm}`], hashes: { policy: "493f" } },
    origin: {
      ...{ version: "0.1.0", date: "2026-01-02", command: "agentrl reproduce made" },
      machine: { cpu: "a processor", cores: 2, platform: "linux-x64" },
    },
    reward: [1, 2, 3].map((step) => ({ step, value: step / 4 })),
    heldOut: [{ step: 3, n: 40, em: 0.9, ci95: [0.8, 0.95] }],
  });
  return {
    ...{ format: 1, recipe: "made", summary: "Arms differ.", notes: ["The world is smaller."] },
    ...{ family: "search-agents", paper: { id: "arXiv 1", title: "A paper" }, tier: "mini" },
    ...{ seeds: [1, 2], looks: [2], level: 0.05, samples: [], calibration: null },
    ...{ base: [{ key: "dataset.people", train: 40, claims: 80 }], claimsHash: "0123456789ab" },
    runs: [run("a", "3f0c91be6a27"), run("b", "000000000000")],
    claims: [
      {
        ...{ id: "wins", statement: "Search wins.", metric: "eval.after.em", relation: "a > b" },
        ...{ role: "claim", instrument: null },
        ...{ source: "Table 1", verdict: "supported", questions: 40, isShare: true },
        comparisons: [
          {
            ...{ left: "a", relation: ">", right: "b", difference: 0.4, ci95: [0.2, 0.6] },
            ...{ p: 0.001, pHolm: 0.001, over: "seeds and questions", room: null },
            ...{ margin: 0, detectable: 0.1, isOpenEnded: false },
            ...{ verdict: "supported", errors: { seeds: 0.02, questions: null } },
          },
        ],
        arms: ["a", "b"].map((name, i) => ({
          ...{ name, mean: i === 0 ? 0.9 : 0.5, ci95: [0.4, 1], values: [0.9, 0.9], seeds: [1, 2] },
          ...{ bounds: 0, isSameForAllSeeds: false, dataset: "tinyworld", model: "base" },
          paper: {
            ...{ table: "t1", system: "RL", dataset: "NQ", metric: "em", model: "Qwen" },
            ...{ split: null, value: 0.48 },
          },
        })),
      },
    ],
  };
}
