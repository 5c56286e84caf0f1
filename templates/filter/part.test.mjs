import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { resolveRecipe } from "agentrl";
import filter from "./not-solved.mjs";

test("not-solved leaves out a group of high rewards", () => {
  const group = (groupId, reward) => ({ groupId, trajectories: [{ purpose: "train", reward }] });
  const kept = filter.keep([group("easy", 1), group("hard", 0)], { atMost: 0.9 });
  assert.deepEqual(
    kept.map(({ groupId }) => groupId),
    ["hard"],
  );
});

test("the recipe loads the part", async () => {
  const recipe = join(import.meta.dirname, "not-solved.yaml");
  assert.equal((await resolveRecipe(recipe, { tier: "smoke" })).tier, "smoke");
});
