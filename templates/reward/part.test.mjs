import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { resolveRecipe } from "agentrl";
import reward from "./few-words.mjs";

test("few-words pays for a short answer", async () => {
  const scored = ["Oslo", "it may be the city of Oslo", null].map((answer) => ({
    trajectory: { answer },
  }));
  assert.deepEqual(await reward.score(scored, { maxWords: 2 }), [1, 0, 0]);
});

test("the recipe loads the part", async () => {
  const recipe = join(import.meta.dirname, "few-words.yaml");
  assert.equal((await resolveRecipe(recipe, { tier: "smoke" })).tier, "smoke");
});
