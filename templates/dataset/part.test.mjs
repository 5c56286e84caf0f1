import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { resolveRecipe } from "agentrl";
import part from "./capital-cities.mjs";

test("capital-cities gives the same questions at each pass", async () => {
  const dataset = await part.open({ questions: 2 });
  const ids = async () => (await dataset.tasks()).map(({ id }) => id);
  assert.deepEqual(await ids(), ["Norway", "France"]);
  assert.deepEqual(await ids(), ["Norway", "France"]);
});

test("the recipe loads the part", async () => {
  const recipe = join(import.meta.dirname, "capital-cities.yaml");
  assert.equal((await resolveRecipe(recipe, { tier: "smoke" })).tier, "smoke");
});
