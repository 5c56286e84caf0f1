// A process of its own: probes a recipe and prints its forecast, in seconds of the wall or of the processor (the work of one worker).
//   node probe.mjs wall|processor RECIPE TIER key=value …
import { loadavg } from "node:os";
import { plannedModel } from "../../dist/recipe/plan/planned-model.js";
import { plannedRun, planRecipe } from "../../dist/recipe/plan/plan.js";
import { probedForecast } from "../../dist/recipe/probe/probed-forecast.js";
import { loadRecipe } from "../../dist/recipe/settings/recipe-file.js";
import { checkSettings, parseSet, resolveSettings } from "../../dist/recipe/settings/settings.js";
import { settingsSchema } from "../../dist/recipe/settings/settings-schema.js";

const [clockName, recipe, tier, ...sets] = process.argv.slice(2);
const overrides = sets.map(parseSet);
const file = await loadRecipe(recipe);
const resolved = checkSettings(settingsSchema, resolveSettings(file, { tier, overrides }));
const run = plannedRun(resolved, await plannedModel(resolved.settings.policy));
const { workers } = run.load;
const processor = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 / workers;
};
const clock = clockName === "processor" ? { clock: processor } : {};
const { signal } = new AbortController();
const forecast = await probedForecast(run, { signal, load: loadavg()[0], ...clock });
const { memory } = planRecipe(run, { memory: Infinity });
console.log(JSON.stringify({ ...forecast, workers, planned: memory.total }));
