import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Advantage, Rewarded } from "../../src/advantages/estimator.ts";
import { gae } from "../../src/advantages/gae.ts";
import { errorWith } from "../helpers/error-with.ts";
import { expectClose } from "../helpers/expect-close.ts";
import { rewarded } from "../helpers/rewarded.ts";

interface Known {
  owners: ("policy" | "environment")[];
  rewards: number[];
  values: number[];
  advantages: number[];
  returns: number[];
  onAxis: number[];
}

const golden = JSON.parse(readFileSync(new URL("../golden/ppo.json", import.meta.url), "utf8")) as {
  gae: { options: Record<string, unknown>; batch: Known[] }[];
};

/** With a prompt token before; each observation begins a call. Every reward but 0 has an address. */
function asRewarded({ owners, rewards, values }: Known): Rewarded {
  const call: number[] = [0];
  const place: number[] = [-1];
  owners.forEach((owner, i) => {
    const turns = owner === "environment" && owners[i - 1] === "policy" ? 1 : 0;
    call.push(call.at(-1)! + turns);
    place.push(owner === "policy" ? place.at(-1)! + 1 : -1);
  });
  const count = owners.length + 1;
  return rewarded({
    reward: rewards.reduce((sum, each) => sum + each, 0),
    rewards: rewards.flatMap((value, i) =>
      value === 0
        ? []
        : [{ name: "turn", value, weight: 1, at: { call: call[i + 1]!, token: place[i + 1]! } }],
    ),
    tokens: {
      call,
      place,
      turn: call,
      owner: ["environment", ...owners],
      previous: Array.from({ length: count }, (_, i) => i - 1),
      trained: [false, ...owners.map((owner) => owner === "policy")],
      logprobs: { old: null, reference: null, policy: null },
      values: [NaN, ...values],
      penalty: null,
      firstResult: null,
    },
  });
}

function estimate(trajectories: readonly Rewarded[], options: Record<string, unknown>): Valued[] {
  return gae.estimate(trajectories, options) as Valued[];
}

type Valued = Record<"advantages" | "returns", readonly number[]> & Advantage;

describe("GAE", () => {
  it.each(golden.gae)("equals verl's and RAGEN's numbers with $options", ({ options, batch }) => {
    const found = estimate(batch.map(asRewarded), options);
    batch.forEach(({ onAxis, advantages, returns }, i) => {
      const kept = (all: readonly number[]): number[] => all.filter((_, t) => onAxis[t] === 1);
      expectClose(kept(found[i]!.advantages.slice(1)), kept(advantages), { atol: 1e-9 });
      expectClose(kept(found[i]!.returns.slice(1)), kept(returns), { atol: 1e-9 });
    });
  });

  // One call: a prompt token, then two of the policy's.
  const two = rewarded({ reward: 1, perCall: [2] });
  const valued = { ...two, tokens: { ...two.tokens, values: [NaN, 0.5, 0.2] } };

  it("carries errors back by γλ", () => {
    // Last token: 1 − .2 = .8. First: (.2 − .5) + .5 · .8 = .1.
    const [found] = estimate([valued], { lambda: 0.5, whiten: false });
    expectClose(found!.advantages, [0, 0.1, 0.8]);
    expectClose(found!.returns.slice(1), [0.6, 1]);
    expect(found!.returns[0]).toBeNaN();
  });

  it("takes the penalty of each token from the reward at it", () => {
    const punished = { ...valued, tokens: { ...valued.tokens, penalty: [0, 0.1, 0.2] } };
    // Returns with γ = λ = 1: .8 − 0 at the last, .8 − .1 at the first.
    const [found] = estimate([punished], { whiten: false });
    expectClose(found!.returns.slice(1), [0.7, 0.8]);
  });

  it("gives a turn one advantage, from the value of its first token", () => {
    const turns = rewarded({
      reward: 1,
      rewards: [{ name: "step", value: 0.5, weight: 1, at: { call: 0 } }],
      perCall: [2, 2],
    });
    // A prompt and two tokens, twice; .5 comes at the end of the first turn and is no part of the outcome.
    const values = [NaN, 0.1, 0.9, 0.9, 0.3, 0.9];
    const outcome = { name: "outcome", value: 1, weight: 1, at: null };
    const given = {
      ...turns,
      rewards: [...turns.rewards, outcome],
      tokens: { ...turns.tokens, values },
    };
    // Second turn: 1 − .3 = .7. First: .5 + .5 · .3 − .1 + .5 · .7 = .9.
    const options = { timeAxis: "turns", gamma: 0.5, whiten: false };
    const [found] = estimate([given], options);
    expectClose(found!.advantages, [0, 0.9, 0.9, 0, 0.7, 0.7]);
    expectClose([found!.returns[1]!, found!.returns[4]!], [1, 1]);
    expect(found!.returns[2]).toBeNaN();
  });

  it("leaves a trajectory that cannot be scored out of the batch", () => {
    const [own, unscored] = estimate([valued, { ...valued, reward: null }], {});
    const [alone] = estimate([valued], {});
    expect(own).toEqual(alone);
    expect(unscored!.advantages).toEqual([0, 0, 0]);
    expect(unscored!.returns.every(Number.isNaN)).toBe(true);
  });

  it("says that it needs a critic", () => {
    const without = { ...two, tokens: { ...two.tokens, values: null } };
    expect(() => estimate([without], {})).toThrow(
      errorWith("ENGINE_NO_ROLE", "algorithm.name ppo"),
    );
  });
});
