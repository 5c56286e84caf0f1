import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { resolveRecipe } from "agentrl";
import protocol from "./brackets.mjs";

test("brackets reads what it writes", () => {
  const grammar = protocol.create({});
  const action = { tool: "search", input: "capital of Norway" };
  assert.deepEqual(grammar.parse(grammar.write({ thought: "", action }, [])).actions, [action]);
});

test("brackets answers a message without an action with a problem", () => {
  const { actions, problems } = protocol.create({}).parse("[[search");
  assert.deepEqual([actions.length, problems.length], [0, 1]);
});

test("the recipe loads the part", async () => {
  const recipe = join(import.meta.dirname, "brackets.yaml");
  assert.equal((await resolveRecipe(recipe, { tier: "smoke" })).tier, "smoke");
});
