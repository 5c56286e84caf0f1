import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { resolveRecipe } from "agentrl";
import part from "./low-reward.mjs";

test("low-reward waits for enough steps", () => {
  const line = { step: 1, metrics: { "rollout/reward_mean": 0 } };
  const options = { least: 0.1, steps: 2 };
  assert.equal(part.check([line], options), null);
  assert.equal(part.check([line, line], options).value, 0);
});

test("the recipe loads the part", async () => {
  const recipe = join(import.meta.dirname, "low-reward.yaml");
  assert.equal((await resolveRecipe(recipe, { tier: "smoke" })).tier, "smoke");
});
