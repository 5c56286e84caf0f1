import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { resolveRecipe } from "agentrl";
import part from "./question-words.mjs";

test("question-words adds the long words", async () => {
  const { annotate } = await part.open({});
  const task = await annotate({ question: "Who wrote the Sea?", annotations: {} });
  assert.deepEqual(task.annotations.searchTerms, [["wrote"]]);
});

test("the recipe loads the part", async () => {
  const recipe = join(import.meta.dirname, "question-words.yaml");
  assert.equal((await resolveRecipe(recipe, { tier: "smoke" })).tier, "smoke");
});
