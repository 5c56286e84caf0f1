import assert from "node:assert/strict";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { resolveRecipe } from "agentrl";
import part from "./short-log.mjs";

test("short-log writes a line per step", async () => {
  const out = mkdtempSync(join(tmpdir(), "short-log-"));
  const reporter = await part.open({}, { out }, () => {});
  reporter.metrics(1, { "rollout/reward_mean": 0.5 }, {});
  await reporter.close("finished");
  assert.equal(readFileSync(join(out, "short.log"), "utf8"), "1 0.5\n");
});

test("the recipe loads the part", async () => {
  const recipe = join(import.meta.dirname, "short-log.yaml");
  assert.equal((await resolveRecipe(recipe, { tier: "smoke" })).tier, "smoke");
});
