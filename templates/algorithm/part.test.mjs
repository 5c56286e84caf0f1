import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { resolveRecipe } from "agentrl";
import part from "./plain-clip.mjs";

test("plain-clip clips both sides alike", () => {
  const [{ options }] = part.losses({ clip: 0.1 });
  assert.deepEqual([options.clipLow, options.clipHigh], [0.1, 0.1]);
});

test("the recipe loads the part", async () => {
  const recipe = join(import.meta.dirname, "plain-clip.yaml");
  assert.equal((await resolveRecipe(recipe, { tier: "smoke" })).tier, "smoke");
});
