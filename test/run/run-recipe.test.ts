import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { loadRecipe } from "../../src/run/settings/recipe-file.ts";
import { runRecipe } from "../../src/run/run-recipe.ts";
import { settingsSchema } from "../../src/run/settings/settings-schema.ts";
import { checkSettings, parseSet, resolveSettings } from "../../src/run/settings/settings.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import "../helpers/all-parts.ts";

it("a stage that reinforces leaves the policy without its optimiser's state", async () => {
  const out = temporaryFolder();
  const sets = ["stages=[{ do: train }]", "evaluation.dataset.questions=2", "engine.workers=1"];
  const resolved = resolveSettings(await loadRecipe("cort"), {
    tier: "smoke",
    overrides: sets.map(parseSet),
  });
  const { checkpoint, stages } = await runRecipe(checkSettings(settingsSchema, resolved), {
    out,
    version: "0",
    signal: new AbortController().signal,
  });
  const policy = join(out, "stages", "1-train", "policy");
  expect([checkpoint, stages?.[0]?.policy]).toEqual([policy, policy]);
  const has = (file: string): boolean => existsSync(join(policy, file));
  expect([has("model.safetensors"), has("training-state.json")]).toEqual([true, false]);
}, 120_000);
