import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { loadRecipe } from "../../src/recipe/settings/recipe-file.ts";
import { runRecipe } from "../../src/recipe/run-recipe.ts";
import { settingsSchema } from "../../src/recipe/settings/settings-schema.ts";
import { checkSettings, parseSet, resolveSettings } from "../../src/recipe/settings/settings.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

it("measures the start after the stage that makes it, with isStart", async () => {
  const rows = async (stage: string): Promise<[before: string, after: string]> => {
    const out = temporaryFolder();
    const sets = [
      ...[`stages=[${stage}]`, "evaluation.dataset.questions=4", "engine.workers=1"],
      // The policy loses what it knew, so that its answers differ.
      ...["algorithm.steps=1", "algorithm.klCoef=0", "algorithm.optimizer.learningRate=0.1"],
    ];
    const resolved = resolveSettings(await loadRecipe("search-r1"), {
      tier: "smoke",
      overrides: sets.map(parseSet),
    });
    await runRecipe(checkSettings(settingsSchema, resolved), {
      ...{ out, version: "0", signal: new AbortController().signal },
    });
    const read = (name: string) => readFileSync(join(out, "eval", `${name}.rows.jsonl`), "utf8");
    return [read("before"), read("after")];
  };
  const [before, after] = await rows("{ do: train }");
  expect(before).not.toBe(after);
  expect(await rows("{ do: train, isStart: true }")).toEqual([after, after]);
}, 120_000);
