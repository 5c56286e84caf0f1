import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { resolveRecipe } from "agentrl";
import part from "./asked-told.mjs";

test("asked-told reads a record", () => {
  const record = { asked: "Who?", replies: ["Ada"], told: "Ada did." };
  const { question, references } = part.read(record, "line 1");
  assert.deepEqual({ question, references }, { question: "Who?", references: ["Ada"] });
});

test("the recipe loads the part", async () => {
  const recipe = join(import.meta.dirname, "asked-told.yaml");
  assert.equal((await resolveRecipe(recipe, { tier: "smoke" })).tier, "smoke");
});
