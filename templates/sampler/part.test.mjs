import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { resolveRecipe } from "agentrl";
import sampler from "./in-order.mjs";

test("in-order takes the tasks in order and begins again", () => {
  const tasks = ["a", "b", "c"].map((id) => ({ id }));
  const context = { tasks, seed: 1, promptsPerStep: 2, groupSize: 4 };
  const opened = sampler.open({ skip: 0 }, context, null);
  const ids = [0, 1].flatMap((step) => opened.next(step).map(({ task }) => task.id));
  assert.deepEqual(ids, ["a", "b", "c", "a"]);
});

test("the recipe loads the part", async () => {
  const recipe = join(import.meta.dirname, "in-order.yaml");
  assert.equal((await resolveRecipe(recipe, { tier: "smoke" })).tier, "smoke");
});
