import { describe, expect, it } from "vitest";
import { registry } from "../../src/base/registry.ts";
import type { Engine } from "../../src/engine/engine.ts";
import { defineReward, type Reward } from "../../src/rewards/reward.ts";
import { algorithms } from "../../src/algorithms/index.ts";
import {
  type OnPolicyOptions,
  type OnPolicyRun,
  trainOnPolicy,
} from "../../src/algorithms/on-policy.ts";
import { GREEDY } from "../../src/rollout/sampling.ts";
import { errorWith } from "../helpers/error-with.ts";
import { listed } from "../helpers/listed-retriever.ts";
import { replay, searchEnvironment, task } from "../helpers/search-world.ts";
import "../helpers/all-parts.ts";

/** Trains for a step on a policy that searches, and answers in its second message. */
async function train(
  search: () => Promise<never> | null,
  { sampler, ...changes }: Partial<OnPolicyRun> & { sampler?: unknown } = {},
): Promise<number> {
  const algorithm = algorithms.get("grpo", "test");
  const given = { steps: 1, promptsPerStep: 1, groupSize: 2, filters: ["zero-variance"], sampler };
  const good = listed(["a"]);
  let calls = 0;
  const retriever: typeof good = {
    ...good,
    search: (...asked) => search() ?? good.search(...asked),
  };
  await trainOnPolicy({
    algorithm,
    options: algorithm.options.parse(given) as unknown as OnPolicyOptions,
    // Nothing is learnt from groups of equal rewards, so it is not asked for anything.
    engine: {} as Engine,
    policy: replay(["<search> x</search>", "<answer> y</answer>"]),
    environment: searchEnvironment({}, retriever),
    strategy: "agent",
    tasks: [task],
    sampling: GREEDY,
    seed: 1,
    firstStep: 0,
    rewards: [{ name: "exact-match", weight: 1, options: {} }],
    signal: new AbortController().signal,
    onStep: () => Promise.resolve(++calls > 0),
    ...changes,
  });
  return calls;
}

describe("trainOnPolicy", () => {
  it("goes on where some rollouts fail, and ends by name where all of a step do", async () => {
    let asked = 0;
    const down = (): Promise<never> => Promise.reject(new Error("connection refused"));
    expect(await train(() => ((asked += 1) === 1 ? down() : null))).toBe(1);
    await expect(train(down)).rejects.toThrow(
      errorWith("ROLLOUTS_FAILED", /^step 1: all 2 rollouts failed, the first with TOOL_FAILED: /),
    );
  });

  it("shows a reward of batch scope all rounds of a sampler, each trajectory reward only once", async () => {
    const shown = new Map<string, number[]>();
    const parts = (["trajectory", "batch"] as const).map((scope) =>
      defineReward({
        name: scope,
        summary: "For tests.",
        scope,
        scoreAll(scored) {
          shown.set(scope, [...(shown.get(scope) ?? []), scored.length]);
          return scored.map(() => 1);
        },
      }),
    );
    // Every group is all right, so each is replaced: three rounds of one group of two.
    await train(() => null, {
      sampler: { name: "refill", maxRounds: 3 },
      tasks: ["one", "two", "three"].map((id) => ({ ...task, id })),
      rewards: parts.map(({ name }, i) => ({ name, weight: i, options: {} })),
      scoring: { registry: registry<Reward>("reward", parts) },
    });
    expect(Object.fromEntries(shown)).toEqual({ trajectory: [2, 2, 2], batch: [2, 4, 6] });
  });
});
