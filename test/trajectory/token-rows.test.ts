import { describe, expect, it } from "vitest";
import {
  type Call,
  type Segment,
  policyTokenCount,
  sequenceIds,
  tokenRows,
} from "../../src/trajectory/trajectory.ts";

const segment = (owner: Segment["owner"], ...ids: number[]): Segment => {
  return { owner, ids, logprobs: owner === "policy" ? ids.map((id) => -id / 10) : null };
};
const call = (parent: number | null, prompt: Segment[], ...completion: Segment[]): Call => {
  return { parent, role: "policy", policyVersion: 0, prompt, completion, finish: "eos" };
};

/** A chat of two turns; each extends the last. */
const chat = [
  call(null, [segment("template", 1, 2)], segment("policy", 3)),
  call(0, [segment("environment", 4)], segment("inserted", 5), segment("policy", 6, 7)),
];

describe("tokenRows", () => {
  it("makes one row of a chat, with the owner, log-probability, temperature and call of each token", () => {
    const [first, last] = chat;
    expect(tokenRows({ calls: [first!, { ...last!, temperature: 0.7 }] })).toEqual([
      {
        calls: [0, 1],
        ids: [1, 2, 3, 4, 5, 6, 7],
        owners: [
          ...["template", "template", "policy", "environment", "inserted", "policy", "policy"],
        ],
        logprobs: [NaN, NaN, -0.3, NaN, NaN, -0.6, -0.7],
        temperatures: [1, 1, 1, 0.7, 0.7, 0.7, 0.7],
        callOf: [0, 0, 0, 1, 1, 1, 1],
      },
    ]);
  });

  it("makes a row of each prompt built anew", () => {
    const calls = [...chat, call(null, [segment("template", 6, 7)], segment("policy", 8))];
    expect(tokenRows({ calls }).map(({ calls, ids }) => ({ calls, ids }))).toEqual([
      { calls: [0, 1], ids: [1, 2, 3, 4, 5, 6, 7] },
      { calls: [2], ids: [6, 7, 8] },
    ]);
  });

  it("makes a row of each branch, from the shared beginning on", () => {
    const calls = [...chat, call(0, [segment("environment", 9)], segment("policy", 8))];
    expect(tokenRows({ calls }).map(({ calls, ids }) => ({ calls, ids }))).toEqual([
      { calls: [0, 1], ids: [1, 2, 3, 4, 5, 6, 7] },
      { calls: [0, 2], ids: [1, 2, 3, 9, 8] },
    ]);
  });

  it("makes none of no calls", () => {
    expect(tokenRows({ calls: [] })).toEqual([]);
  });
});

describe("sequenceIds", () => {
  it("gives a call's own tokens after those of all calls before it", () => {
    expect(sequenceIds(chat, 0)).toEqual([1, 2, 3]);
    expect(sequenceIds(chat, 1)).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });
});

describe("policyTokenCount", () => {
  it("counts what the policy wrote, and nothing that was put into its mouth", () => {
    expect(policyTokenCount({ calls: chat })).toBe(3);
  });
});
