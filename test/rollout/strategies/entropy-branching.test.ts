import { describe, expect, it } from "vitest";
import { scriptedPolicy, type TokenPolicy } from "../../../src/rollout/policy.ts";
import { openStrategy } from "../../../src/rollout/strategies/named-strategy.ts";
import { rolloutOptions, tokenizer } from "../../helpers/search-world.ts";
import "../../helpers/all-parts.ts";

/** Searches twice, then answers. */
const scripted = scriptedPolicy(tokenizer, ({ turns, seed }) =>
  turns.length < 2 ? "<search> Oslo</search>" : `<answer> ${seed}</answer>`,
);

/** As sure of its first message as possible, and of each token of its later ones to `logprob`. */
const unsure = (logprob: number): TokenPolicy => {
  let messages = 0;
  return {
    ...scripted,
    async complete(request) {
      const result = await scripted.complete(request);
      messages += 1;
      return messages === 1 ? result : { ...result, logprobs: result.ids.map(() => logprob) };
    },
  };
};

const grow = (settings: object, policy: TokenPolicy = scripted) =>
  openStrategy({ name: "entropy-branching", ...settings }, "test").runAll(
    rolloutOptions({ policy, id: "r", seed: 3 }),
  );

describe("entropy-branching", () => {
  it("branches behind the first tool's answer, and the branches share what was played before", async () => {
    const leaves = await grow({ probability: 1, weight: 0 });
    expect(leaves.map(({ id }) => id)).toEqual(["r", "r.1.1"]);
    const [first, second] = leaves;
    expect(second?.branch).toEqual({ of: "r", calls: 1 });
    expect(second?.calls[0]).toBe(first?.calls[0]);
    expect(second?.answer).not.toBe(first?.answer);
  });

  it("branches as often as it may, and never without a chance", async () => {
    expect(await grow({ probability: 1, weight: 0, branchings: 2 })).toHaveLength(4);
    expect(await grow({ probability: 1, weight: 0, width: 3 })).toHaveLength(3);
    expect(await grow({ probability: 0, weight: 0 })).toHaveLength(1);
  });

  it("branches where the message that called began less sure than the first one", async () => {
    // Of -5 nats three tokens come to 15 / ln V more than the first message's, which the weight makes a certainty.
    const settings = { probability: 0, weight: Math.log(tokenizer.vocabSize) / 15, tokens: 3 };
    const leaves = await grow(settings, unsure(-5));
    expect(leaves.map(({ branch }) => branch?.calls)).toEqual([undefined, 2]);
    expect(await grow({ ...settings, weight: 0 }, unsure(-5))).toHaveLength(1);
  });

  it("is the agent's plain rollout in an evaluation", async () => {
    const strategy = openStrategy({ name: "entropy-branching", probability: 1 }, "test");
    const one = await strategy.run(rolloutOptions({ policy: scripted, id: "r", seed: 3 }));
    expect(one).toMatchObject({ id: "r", end: "answered" });
    expect(one.branch).toBeUndefined();
  });
});
