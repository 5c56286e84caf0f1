import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { resolveRecipe } from "agentrl";
import strategy from "./search-then-agent.mjs";

test("search-then-agent needs an environment that searches", () => {
  assert.deepEqual([strategy.searches(), strategy.needs()[0]], [true, "searching"]);
});

test("the recipe loads the part", async () => {
  const recipe = join(import.meta.dirname, "search-then-agent.yaml");
  assert.equal((await resolveRecipe(recipe, { tier: "smoke" })).tier, "smoke");
});
