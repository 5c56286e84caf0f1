import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { resolveRecipe } from "agentrl";
import estimator from "./above-mean.mjs";

const tokens = {
  previous: [],
  call: [],
  place: [],
  turn: [],
  owner: [],
  trained: [],
  values: null,
};
const trajectory = (reward) => ({ groupId: "a", reward, rewards: [], tokens, branch: null });

test("above-mean halves what lies below the mean", () => {
  const advantages = estimator.estimate([trajectory(1), trajectory(0)], { below: 0.5 });
  assert.deepEqual(advantages, [0.5, -0.25]);
});

test("the recipe loads the part", async () => {
  const recipe = join(import.meta.dirname, "above-mean.yaml");
  assert.equal((await resolveRecipe(recipe, { tier: "smoke" })).tier, "smoke");
});
