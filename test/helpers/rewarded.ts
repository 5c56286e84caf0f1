import type { CreditTokens, Rewarded } from "../../src/advantages/estimator.ts";

/**
 * A trajectory as an estimator sees it: each call is a prompt token and then its written tokens, and continues the call before it.
 * @param perCall tokens that the policy wrote in each call.
 */
export function rewarded(given: Partial<Rewarded> & { perCall?: readonly number[] }): Rewarded {
  const { perCall = [3], ...rest } = given;
  const plain = {
    groupId: "a",
    reward: 0,
    rewards: [],
    states: [],
    branch: null,
    isBaseline: false,
  };
  return { ...plain, tokens: tokens(perCall), ...rest };
}

function tokens(perCall: readonly number[]): CreditTokens {
  const each = perCall.flatMap((written, call) =>
    Array.from({ length: written + 1 }, (_, i) => ({ call, place: i - 1 })),
  );
  return {
    previous: each.map((_, i) => i - 1),
    call: each.map(({ call }) => call),
    place: each.map(({ place }) => place),
    turn: each.map(({ call }) => call),
    owner: each.map(({ place }) => (place < 0 ? "environment" : "policy")),
    trained: each.map(({ place }) => place >= 0),
    firstResult: null,
    logprobs: { old: each.map(() => -1), reference: null, policy: null },
    values: each.map(({ place }, i) => (i === 0 && place < 0 ? NaN : 0.1 * (i % 4))),
    penalty: null,
  };
}
