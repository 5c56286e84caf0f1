import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { resolveRecipe } from "agentrl";
import part from "./hinge.mjs";

test("hinge is 0 beyond the margin", () => {
  const side = (logprob) => ({ logprob, reference: 0, tokens: 1 });
  const loss = (chosen, rejected) =>
    part.pairLoss({ chosen: side(chosen), rejected: side(rejected) }, { margin: 1 }).loss;
  assert.deepEqual([loss(-1, -3), loss(-1, -1)], [0, 1]);
});

test("the recipe loads the part", async () => {
  const recipe = join(import.meta.dirname, "hinge.yaml");
  assert.equal((await resolveRecipe(recipe, { tier: "smoke" })).tier, "smoke");
});
