import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { resolveRecipe } from "agentrl";
import tool from "./count-letters.mjs";

const call = async (text, options = {}) => {
  const session = tool.create(options, {}).open({ trajectoryId: "", task: {}, seed: 0 });
  return session.call({ text }, {});
};

test("count-letters counts letters", async () => {
  assert.equal((await call("two words")).text, "8");
});

test("count-letters answers a text that is too long with a problem", async () => {
  assert.equal((await call("long", { maxLength: 3 })).problem.code, "too-long");
});

test("the recipe loads the part", async () => {
  const recipe = join(import.meta.dirname, "count-letters.yaml");
  assert.equal((await resolveRecipe(recipe, { tier: "smoke" })).tier, "smoke");
});
