import { describe, expect, it } from "vitest";
import { plannedModel } from "../../../src/run/plan/planned-model.ts";
import { plannedRun, type PlannedRun } from "../../../src/run/plan/plan.ts";
import { trialForecast } from "../../../src/run/plan/trial.ts";
import { loadRecipe } from "../../../src/run/settings/recipe-file.ts";
import { checkSettings, parseSet, resolveSettings } from "../../../src/run/settings/settings.ts";
import { settingsSchema } from "../../../src/run/settings/settings-schema.ts";
import "../../helpers/all-parts.ts";

async function run(...sets: string[]): Promise<PlannedRun> {
  const recipe = await loadRecipe("search-r1");
  const overrides = ["engine.workers=1", ...sets].map(parseSet);
  const resolved = checkSettings(
    settingsSchema,
    resolveSettings(recipe, { tier: "smoke", overrides }),
  );
  return plannedRun(resolved, await plannedModel(resolved.settings));
}

const { signal } = new AbortController();
const tried = async (...sets: string[]) => trialForecast(await run(...sets), { signal, load: 0 });

describe("a trial", () => {
  it.each([
    [["algorithm.steps=0"], /no step/],
    [["policy.from=Qwen/Qwen2.5-0.5B"], /weights of Qwen\/Qwen2\.5-0\.5B/],
    [
      ["models={ judge: { endpoint: { baseUrl: http://localhost:1/v1, model: m } } }"],
      /server of the model "judge"/,
    ],
  ])("is not made with %j", async (sets, why) => {
    expect(await tried(...sets)).toEqual({ why: expect.stringMatching(why) as string });
  });

  it("takes real steps, and forecasts what they and the rest take", async () => {
    const sets = ["algorithm.promptsPerStep=2", "algorithm.groupSize=2", "rewardCheck=false"];
    const forecast = await tried(...sets, "evaluation.dataset.questions=4");
    if ("why" in forecast) throw new Error(forecast.why);
    const { time, peakBytes, trial } = forecast;
    expect(trial).toMatchObject({ steps: 2, share: 1 });
    const parts = [time.opening, time.evaluations, time.rollouts, time.updates, time.checkpoints];
    expect(Math.min(...parts)).toBeGreaterThan(0);
    expect(time.total).toBeCloseTo(parts.reduce((sum, each) => sum + each, 0));
    expect(peakBytes).toBeGreaterThan(1e8);
  });

  it("ends after its limit, although nothing else holds the limit", async () => {
    const begun = performance.now();
    const sets = ["evaluation.dataset.questions=100000", "evaluation.samplesPerTask=1"];
    const forecast = await trialForecast(await run(...sets), { signal, load: 0, patience: 0.2 });
    expect(forecast).toEqual({ why: expect.stringContaining("0.2 seconds") as string });
    expect(performance.now() - begun).toBeLessThan(60_000);
  });

  it("ends with the caller", async () => {
    const stopped = trialForecast(await run(), { signal: AbortSignal.abort(), load: 0 });
    await expect(stopped).rejects.toThrow(/abort/i);
  });
});
