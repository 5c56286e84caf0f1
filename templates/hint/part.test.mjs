import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { resolveRecipe } from "agentrl";
import part from "./opening-thought.mjs";

test("opening-thought begins the first message alone", () => {
  const { prefill } = part.open({ text: "Hm." });
  assert.deepEqual(
    [0, 1].map((turn) => prefill({ turn })),
    ["Hm.", null],
  );
});

test("the recipe loads the part", async () => {
  const recipe = join(import.meta.dirname, "opening-thought.yaml");
  assert.equal((await resolveRecipe(recipe, { tier: "smoke" })).tier, "smoke");
});
