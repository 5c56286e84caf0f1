import { loadavg } from "node:os";
import type { TrialForecast } from "../../run/plan/trial.ts";
import { checkBlocks, forecastBlocks, planBlocks } from "../../view/documents/plan.ts";
import { defineCommand } from "../command.ts";
import { deviceFlag, jsonFlag, pluginFlag, seedFlag, setFlag, tierFlag } from "../options.ts";
import { notePaper } from "../paper-notes.ts";
import { overridesOf, settingsOf } from "../recipe-options.ts";

/** `agentrl recipes plan`: the memory and time of a recipe, before it starts. */
export const recipesPlan = defineCommand({
  name: "plan",
  description:
    "Plan a recipe before anything starts: the work of every stage, batch sizes, memory by part, checks of the token budgets, and a forecast of the time on this machine from its first training steps.",
  args: [["<recipe>", "name of a shipped recipe, or a path"]],
  options: {
    tier: tierFlag(),
    model: [
      "<name>",
      "plan for another policy: a folder with a config.json, a GGUF file, or org/name on the hub",
    ],
    device: deviceFlag(),
    memory: [
      "<amount>",
      "memory budget, e.g. 24GB (default: this machine's memory, less what the system needs)",
    ],
    allowIgnored: ["", "do not fail on settings that have no effect"],
    noProbe: ["", "do not take the first training steps, so give no forecast of time"],
    seed: seedFlag(),
    set: setFlag(),
    plugin: pluginFlag(),
    json: jsonFlag(),
  },
  async run(flags, context, recipe) {
    const { parseMemory } = await import("../../run/plan/parse-memory.ts");
    const { plannedRun, planRecipe } = await import("../../run/plan/plan.ts");
    const { plannedModel } = await import("../../run/plan/planned-model.ts");
    const { model, memory } = flags;
    const own = overridesOf([["policy.from", model, "--model"]]);
    const resolved = await settingsOf({ ...flags, recipe }, own);
    await notePaper(resolved, context);
    const budget = memory === undefined ? null : parseMemory(memory, "--memory");
    const { policy, environment } = resolved.settings;
    const planned = await plannedModel({
      policy: model === undefined ? policy : { from: model },
      environment,
    });
    const run = await plannedRun(resolved, planned);
    const plan = planRecipe(run, { memory: budget });
    const title = `${resolved.recipe.name}, tier ${resolved.tier}`;
    const { checkPlan } = await import("../../run/checks/plan-checks.ts");
    const checks = await checkPlan(run);
    if (flags.json !== true) context.out([...planBlocks(title, plan), ...checkBlocks(checks)]);
    const forecast = await forecastOf();
    if (flags.json === true) {
      const { settings, origins } = run.resolved;
      const where = { settings, origins: Object.fromEntries(origins) };
      context.out(JSON.stringify({ ...plan, checks, forecast, ...where }));
    } else context.out([{ kind: "text", text: "" }, ...forecastBlocks(forecast)]);
    const { requireSoundBudgets } = await import("../../run/checks/check-budgets.ts");
    const { requireMemory } = await import("../../run/checks/require-room.ts");
    const { requireHonoured } = await import("../../run/checks/ignored-settings.ts");
    if (flags.allowIgnored !== true) requireHonoured(run.resolved);
    requireSoundBudgets(checks.budgets);
    requireMemory(title, plan);

    async function forecastOf(): Promise<TrialForecast | { why: string }> {
      if (flags.probe === false) return { why: "--no-probe" };
      if (plan.server !== null) return { why: "a training server computes" };
      if (plan.memory.fits === false) return { why: "it does not fit" };
      const { trialForecast } = await import("../../run/plan/trial.ts");
      context.note("trial: taking the first training steps (--no-probe skips this)");
      return trialForecast(run, { signal: context.signal, load: loadavg()[0] ?? 0 });
    }
  },
});
