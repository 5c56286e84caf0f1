import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { resolveRecipe } from "agentrl";
import environment from "./guess-number.mjs";

const first = (split) => environment.tasks({}, { split, seed: 1 })[Symbol.iterator]().next().value;
const step = (episode, message) => episode.step(message, { final: false });

test("guess-number replies higher or lower, and pays 1 for the number", async () => {
  const task = { ...first("train"), annotations: { type: "7" } };
  const episode = environment.create({}, {}).start(task, { trajectoryId: "", seed: 1 });
  assert.match((await step(episode, "<guess>3</guess>")).reply, /higher/);
  const { reward, end } = await step(episode, "<guess>7</guess>");
  assert.deepEqual({ reward, end }, { reward: 1, end: "done" });
});

test("guess-number draws the same tasks for the same seed", () => {
  assert.deepEqual(first("test"), first("test"));
});

test("the recipe loads the part", async () => {
  const recipe = join(import.meta.dirname, "guess-number.yaml");
  assert.equal((await resolveRecipe(recipe, { tier: "smoke" })).tier, "smoke");
});
