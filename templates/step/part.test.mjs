import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { resolveRecipe } from "agentrl";
import part from "./few-turns.mjs";

test("few-turns drops the longer trajectory", async () => {
  const candidates = [1, 4].map((turns) => {
    return { id: `of ${turns}`, trajectory: { turns: Array(turns).fill({}) } };
  });
  const { kept, dropped } = (await part.open({})).apply({ candidates });
  assert.deepEqual(
    [kept, dropped].map(([{ id }]) => id),
    ["of 1", "of 4"],
  );
});

test("the recipe loads the part", async () => {
  const recipe = join(import.meta.dirname, "few-turns.yaml");
  assert.equal((await resolveRecipe(recipe, { tier: "smoke" })).tier, "smoke");
});
