import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { protocols, resolveRecipe } from "agentrl";
import part from "./one-search.mjs";

test("one-search writes a search, then an answer", () => {
  const protocol = protocols.get("search-r1", "test").create({});
  const task = { question: "Who?", references: ["Ada"], annotations: {} };
  const write = part.open({});
  const place = { task, tools: [], prefill: "", protocol };
  assert.match(write({ ...place, turns: [] }), /<search> ?Who\?/);
  assert.match(write({ ...place, turns: [{}] }), /<answer> ?Ada/);
});

test("the recipe loads the part", async () => {
  const recipe = join(import.meta.dirname, "one-search.yaml");
  assert.equal((await resolveRecipe(recipe, { tier: "smoke" })).tier, "smoke");
});
