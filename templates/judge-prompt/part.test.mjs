import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { resolveRecipe } from "agentrl";
import part from "./same-entity.mjs";

test("same-entity accepts one of its verdicts", () => {
  assert.deepEqual(
    part.accepted.filter((each) => part.verdicts.includes(each)),
    ["same"],
  );
});

test("the recipe loads the part", async () => {
  const recipe = join(import.meta.dirname, "same-entity.yaml");
  assert.equal((await resolveRecipe(recipe, { tier: "smoke" })).tier, "smoke");
});
