import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { resolveRecipe } from "agentrl";
import retriever from "./shared-words.mjs";

test("shared-words puts the passage with the most shared words first", async () => {
  const passages = ["Paris is in France", "Oslo is the capital of Norway"];
  const corpus = () => passages.map((text, i) => ({ id: String(i), title: "", text }));
  const opened = await retriever.create({}, { corpus });
  const [[hit]] = await opened.search(["capital of Norway"], 1);
  assert.equal(hit.id, "1");
});

test("the recipe loads the part", async () => {
  const recipe = join(import.meta.dirname, "shared-words.yaml");
  assert.equal((await resolveRecipe(recipe, { tier: "smoke" })).tier, "smoke");
});
