import { describe, expect, it } from "vitest";
import { plannedRun, planRecipe, type Plan } from "../../../src/run/plan/plan.ts";
import { plannedModel } from "../../../src/run/plan/planned-model.ts";
import { loadRecipe } from "../../../src/run/settings/recipe-file.ts";
import { checkSettings, parseSet, resolveSettings } from "../../../src/run/settings/settings.ts";
import { settingsSchema } from "../../../src/run/settings/settings-schema.ts";
import "../../helpers/all-parts.ts";

describe("the memory of a plan", () => {
  it("names adapters, or a smaller model, where no load fits", async () => {
    const sets = ["engine.workers=1", "engine.slots=1", "policy.from=HuggingFaceTB/SmolLM2-360M"];
    const recipe = await loadRecipe("search-r1");
    const overrides = sets.map(parseSet);
    const all = checkSettings(
      settingsSchema,
      resolveSettings(recipe, { tier: "smoke", overrides }),
    );
    const own = await plannedModel(all.settings);
    const run = await plannedRun(all, own);
    const plan = (memory: number): Plan => planRecipe(run, { memory });
    expect(plan(4e9)).toMatchObject({
      fitting: null,
      smallest: { model: null, settings: { "policy.lora.rank": 16 } },
    });
    // Between what the smaller model takes with adapters in 16 bits, 1.4 GB, and this one, 1.85.
    expect(plan(1.7e9).smallest?.model).toBe("HuggingFaceTB/SmolLM2-135M");
    expect(plan(1e6)).toMatchObject({ fitting: null, smallest: null });
  });
});
