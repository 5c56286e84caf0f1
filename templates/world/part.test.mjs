import assert from "node:assert/strict";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { resolveRecipe } from "agentrl";
import world from "./box-colours.mjs";

const [dataset] = world.datasets;
const tasksOf = async (options) => (await dataset.open(options)).tasks(20);

test("box-colours draws the same questions for the same seed", async () => {
  assert.deepEqual(await tasksOf({ seed: 1 }), await tasksOf({ seed: 1 }));
  assert.notDeepEqual(await tasksOf({ seed: 1 }), await tasksOf({ seed: 2 }));
});

test("box-colours passes its own check", async () => {
  const folder = mkdtempSync(join(tmpdir(), "box-colours-"));
  await world.folder.generate(folder, { boxes: 30, questions: 20 });
  const { counts, problems } = await world.folder.check(folder);
  assert.deepEqual({ counts, problems }, { counts: { passages: 90, questions: 60 }, problems: [] });
});

test("the recipe loads the world", async () => {
  const recipe = join(import.meta.dirname, "box-colours.yaml");
  assert.equal(
    (await resolveRecipe(recipe, { tier: "smoke" })).settings.dataset.name,
    "box-colours",
  );
});
