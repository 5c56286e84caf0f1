import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { resolveRecipe } from "agentrl";
import part from "./shortest.mjs";

test("shortest keeps the shortest", () => {
  const samples = [30, 10, 20].map((length) => ({ id: `of ${length}`, length }));
  const { kept } = part.select(samples, { count: 2 });
  assert.deepEqual(
    kept.map(({ length }) => length),
    [10, 20],
  );
});

test("the recipe loads the part", async () => {
  const recipe = join(import.meta.dirname, "shortest.yaml");
  assert.equal((await resolveRecipe(recipe, { tier: "smoke" })).tier, "smoke");
});
