// A process of its own: takes the first steps of a recipe and prints its forecast, in seconds of the wall or of the processor.
//   node trial.mjs wall|processor RECIPE TIER key=value …
import { loadavg } from "node:os";
import { plannedModel } from "../../dist/run/plan/planned-model.js";
import { plannedRun, planRecipe } from "../../dist/run/plan/plan.js";
import { trialForecast } from "../../dist/run/plan/trial.js";
import { loadRecipe } from "../../dist/run/settings/recipe-file.js";
import { loadSettings, parseSet, resolveSettings } from "../../dist/run/settings/settings.js";
import { settingsSchema } from "../../dist/run/settings/settings-schema.js";

const [clockName, recipe, tier, ...sets] = process.argv.slice(2);
const overrides = sets.map(parseSet);
const file = await loadRecipe(recipe);
const resolved = await loadSettings(settingsSchema, resolveSettings(file, { tier, overrides }));
const run = plannedRun(resolved, await plannedModel(resolved.settings));
const processor = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};
const clock = clockName === "processor" ? { clock: processor } : {};
const { signal } = new AbortController();
const forecast = await trialForecast(run, { signal, load: loadavg()[0], ...clock });
const { memory } = planRecipe(run, { memory: Infinity });
console.log(JSON.stringify({ ...forecast, planned: memory.total }));
