import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { resolveRecipe } from "agentrl";
import part from "./answer-length.mjs";

test("answer-length counts characters", async () => {
  const { score } = part.open({}, {});
  assert.deepEqual(await score({}, { answer: "Oslo" }), { "answer-length": 4 });
  assert.deepEqual(await score({}, { answer: null }), { "answer-length": 0 });
});

test("the recipe loads the part", async () => {
  const recipe = join(import.meta.dirname, "answer-length.yaml");
  assert.equal((await resolveRecipe(recipe, { tier: "smoke" })).tier, "smoke");
});
