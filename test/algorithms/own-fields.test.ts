import { beforeAll, describe, expect, it } from "vitest";
import { defineEstimator } from "../../src/advantages/estimator.ts";
import { algorithms } from "../../src/algorithms/index.ts";
import type { OnPolicyOptions } from "../../src/algorithms/algorithm.ts";
import { updateOn } from "../../src/algorithms/update.ts";
import { mul } from "../../src/autodiff/ops/elementwise.ts";
import { addPart } from "../../src/base/registry.ts";
import { z } from "../../src/base/schema.ts";
import { defineLoss, weightedSum } from "../../src/losses/loss.ts";
import { flatten } from "../../src/models/checkpoint.ts";
import { initialWeights } from "../../src/models/initialise.ts";
import { settingsSchema } from "../../src/run/settings/settings-schema.ts";
import type { Call } from "../../src/trajectory/trajectory.ts";
import { gradientEngine } from "../helpers/gradient-engine.ts";
import { answered } from "../helpers/search-world.ts";
import { tinyConfig } from "../helpers/tiny-model.ts";

const options = z.strictObject({});

beforeAll(() => {
  const loss = defineLoss({
    name: "field-loss",
    summary: "Log-probability times a field.",
    source: "test",
    options,
    fields: ["rank"],
    build: ({ logprobs, fields }) => {
      const sum = weightedSum(fields);
      return {
        loss: sum(mul([logprobs, fields["rank"]!])),
        metrics: { "losses/rank": sum(fields["rank"]!) },
      };
    },
  });
  const estimator = defineEstimator({
    name: "ranking",
    summary: "Numbers the tokens.",
    source: "test",
    needsGroups: false,
    options,
    writes: ["rank"],
    estimate: (trajectories) =>
      trajectories.map(({ tokens }) => {
        const rank = tokens.call.map((_, i) => i);
        return { advantages: rank.map(() => 1), fields: { rank } };
      }),
  });
  addPart({ ...loss, part: "loss" });
  addPart({ ...estimator, part: "advantage estimator" });
});

/** Two shown tokens and three written ones, then one and two. */
const calls: Call[] = [[null, [1, 2], [3, 4, 5]] as const, [0, [6], [7, 8]] as const].map(
  ([parent, shown, written]) => ({
    parent,
    role: "policy",
    policyVersion: 0,
    finish: "stop",
    prompt: [
      { owner: parent === null ? "template" : "environment", ids: [...shown], logprobs: null },
    ],
    completion: [{ owner: "policy", ids: [...written], logprobs: written.map(() => -5) }],
  }),
);

async function meanRank(
  advantage: string,
  rewards: Parameters<typeof answered>[1] = {},
): Promise<number | undefined> {
  const weights = initialWeights(tinyConfig, 7).map((each) => [each.name, each] as const);
  const { engine } = await gradientEngine(tinyConfig, {
    policy: flatten(tinyConfig, new Map(weights), "test"),
  });
  const algorithm = algorithms.get("grpo", "test");
  const given = algorithm.options.parse({ advantage: { name: advantage }, loss: { name: "field-loss" } }); // prettier-ignore
  const run = { algorithm, options: given as unknown as OnPolicyOptions, engine, seed: 1 };
  const trajectory = answered("x", { calls, reward: 1, ...rewards });
  const { metrics } = await updateOn({ ...run, rewards: [] }, 0, [trajectory]);
  return metrics["losses/rank"];
}

describe("a per-token field of a loss", () => {
  it("is what the estimator writes, at the trained tokens", async () => {
    // The five written tokens are the third, fourth, fifth, seventh and eighth of all.
    expect(await meanRank("ranking")).toBeCloseTo((2 + 3 + 4 + 6 + 7) / 5, 5);
  });

  it("is the reward of its name otherwise, at its address", async () => {
    const at = { call: 1, token: 0 };
    const rewards = [
      { name: "rank", value: 2, at: null },
      { name: "rank", value: 5, at },
    ];
    expect(await meanRank("group", { rewards })).toBeCloseTo((5 * 2 + 5) / 5, 5);
  });

  it("is refused at load where nobody writes it, with the nearest name", () => {
    const settings = (advantage: string, as: string) => ({
      algorithm: { name: "grpo", loss: "field-loss", advantage },
      rewards: [{ name: "exact-match", as }],
    });
    for (const [advantage, as] of [
      ["ranking", "em"],
      ["group", "rank"],
    ] as const)
      expect(settingsSchema.safeParse(settings(advantage, as)).success).toBe(true);
    const refused = settingsSchema.safeParse(settings("group", "ranks"));
    expect(refused.error?.issues[0]?.message).toMatch(
      /reads the field "rank" by its loss "field-loss", and nothing writes it.*Did you mean "ranks"/,
    );
  });
});
