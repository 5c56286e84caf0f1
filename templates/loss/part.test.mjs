import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { resolveRecipe } from "agentrl";
import loss from "./soft-ratio.mjs";

test("soft-ratio reads the advantages and the old log-probabilities", () => {
  assert.deepEqual(loss.fields, ["advantages", "oldLogprobs"]);
});

test("the recipe loads the part", async () => {
  const recipe = join(import.meta.dirname, "soft-ratio.yaml");
  assert.equal((await resolveRecipe(recipe, { tier: "smoke" })).tier, "smoke");
});
