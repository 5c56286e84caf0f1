import assert from "node:assert/strict";
import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { resolveRecipe } from "agentrl";
import stage from "./count-types.mjs";

test("count-types counts the questions of each type", async () => {
  const out = await mkdtemp(join(tmpdir(), "count-types-"));
  const tasks = ["bridge", "bridge", "yes-no"].map((type) => ({ annotations: { type } }));
  const dataset = () => Promise.resolve({ stream: (limit) => tasks.slice(0, limit) });
  const left = await stage.run({ out, dataset }, { limit: 5 });
  assert.deepEqual(left, { policy: null, questions: 3, types: 2 });
  const counts = JSON.parse(await readFile(join(out, "types.json"), "utf8"));
  assert.deepEqual(counts, { bridge: 2, "yes-no": 1 });
});

test("the recipe loads the part", async () => {
  const recipe = join(import.meta.dirname, "count-types.yaml");
  assert.equal((await resolveRecipe(recipe, { tier: "smoke" })).tier, "smoke");
});
