import { describe, expect, it } from "vitest";
import { policyRows, rowOffsets, tokensOf, weighted } from "../../src/algorithms/training-rows.ts";
import type { Segment, Trajectory } from "../../src/trajectory/trajectory.ts";
import { answered } from "../helpers/search-world.ts";

const segment = (owner: Segment["owner"], ...ids: number[]): Segment => {
  return { owner, ids, logprobs: owner === "policy" ? ids.map((id) => -id / 10) : null };
};
const finish = { role: "policy", policyVersion: 0, finish: "eos" } as const;

/** Prompt 1 2, policy 3 4, observation 5, policy 6. */
const trajectory = answered("x", {
  calls: [
    {
      ...finish,
      parent: null,
      prompt: [segment("template", 1, 2)],
      completion: [segment("policy", 3, 4)],
    },
    {
      ...finish,
      parent: 0,
      prompt: [segment("environment", 5)],
      completion: [segment("policy", 6)],
    },
  ],
});

describe("policyRows", () => {
  it("shifts inputs and targets by one and trains only what the policy wrote", () => {
    expect(policyRows(trajectory)).toEqual([
      {
        trajectory,
        inputs: [1, 2, 3, 4, 5],
        targets: [2, 3, 4, 5, 6],
        owners: ["template", "policy", "policy", "environment", "policy"],
        tokens: [1, 2, 3, 4, 5],
        lossMask: [0, 1, 1, 0, 1],
        response: [0, 1, 1, 1, 1],
        sampledLogprobs: [NaN, -0.3, -0.4, NaN, -0.6],
        temperatures: [1, 1, 1, 1, 1],
        trainedTokens: 3,
      },
    ]);
  });

  it("numbers tokens through all rows of a trajectory whose prompts were built anew", () => {
    const call = (ids: number[], written: number[]): Trajectory["calls"][number] => ({
      parent: null,
      role: "policy",
      policyVersion: 0,
      finish: "eos" as const,
      prompt: [{ owner: "template", ids, logprobs: null }],
      completion: [{ owner: "policy", ids: written, logprobs: written.map(() => -1) }],
    });
    const rows = policyRows({ ...trajectory, calls: [call([1], [2, 3]), call([4, 5], [6])] });
    expect(rows.map(({ tokens }) => tokens)).toEqual([
      [1, 2],
      [4, 5],
    ]);
  });

  it("trains observations as well where the recipe says so, and never the prompt", () => {
    const [row] = policyRows(trajectory, { lossOn: ["policy", "environment"] });
    expect(row?.lossMask).toEqual([0, 1, 1, 1, 1]);
    expect(row?.trainedTokens).toBe(4);
    expect(row?.sampledLogprobs).toEqual([NaN, -0.3, -0.4, NaN, -0.6]);
  });

  it("does not train what was put into the policy's mouth", () => {
    const forced = answered("x", {
      calls: [
        {
          ...finish,
          parent: null,
          prompt: [segment("template", 1), segment("inserted", 2)],
          completion: [segment("inserted", 3), segment("policy", 4)],
        },
      ],
    });
    expect(policyRows(forced)[0]?.lossMask).toEqual([0, 0, 1]);
  });
});

describe("weighted", () => {
  it("gives each trained token the weight, the others 0, and passes fields on", () => {
    const [row] = policyRows(trajectory);
    const advantages = [0, 2, 2, 0, 2];
    expect(weighted(row!, 0.25, { advantages })).toEqual({
      inputs: [1, 2, 3, 4, 5],
      targets: [2, 3, 4, 5, 6],
      fields: { weights: [0, 0.25, 0.25, 0, 0.25], advantages },
    });
  });
});

describe("tokensOf", () => {
  it("names the first call that results followed, and not one that was only corrected", () => {
    const observations = [{ tool: "search", text: "Oslo" }];
    const turn = { text: "", actions: [], problems: [], observations: [] };
    const turns = [
      { ...turn, call: 0 },
      { ...turn, call: 1, observations },
    ];
    expect(tokensOf({ ...trajectory, turns }, []).firstResult).toBe(1);
    expect(tokensOf({ ...trajectory, turns: turns.slice(0, 1) }, []).firstResult).toBeNull();
  });
});

describe("rowOffsets", () => {
  it("count the trained targets before each", () => {
    expect(rowOffsets([0, 1, 1, 0, 1])).toEqual([0, 0, 1, 0, 2]);
  });
});
