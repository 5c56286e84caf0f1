import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { resolveRecipe } from "agentrl";
import part from "./answer-words.mjs";

test("answer-words counts words", async () => {
  const scored = ["Oslo", "the city of Oslo", null].map((answer) => ({ row: { answer } }));
  assert.deepEqual(await part.score(scored, {}), [1, 4, null]);
});

test("the recipe loads the part", async () => {
  const recipe = join(import.meta.dirname, "answer-words.yaml");
  assert.equal((await resolveRecipe(recipe, { tier: "smoke" })).tier, "smoke");
});
