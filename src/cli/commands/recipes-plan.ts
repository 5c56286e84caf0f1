import { loadavg } from "node:os";
import type { Command } from "commander";
import type { TrialForecast } from "../../run/plan/trial.ts";
import type { CliContext } from "../command.ts";
import { deviceOption, jsonOption, pluginOption, seedOption, setOption } from "../options.ts";
import { checkBlocks, forecastBlocks, planBlocks } from "../../view/documents/plan.ts";
import { settingsOf, type RecipeFlags } from "../recipe-options.ts";

type PlanFlags = Omit<RecipeFlags, "recipe" | "out"> & {
  model?: string;
  memory?: string;
  /** commander's name for --no-probe. */
  probe: boolean;
  allowIgnored?: true;
};

/** `agentrl recipes plan`: the memory and time of a recipe, before it starts. */
export function registerPlan(recipes: Command, context: CliContext): void {
  recipes
    .command("plan")
    .description(
      "Plan a recipe before anything starts: batch sizes, memory by part, checks of the token budgets, and a forecast of the time on this machine from its first training steps.",
    )
    .argument("<recipe>", "name of a shipped recipe, or a path")
    .option(
      "--tier <tier>",
      "size of the run: smoke (seconds), mini (minutes on a CPU), paper (published settings); default: mini where the recipe has it",
    )
    .option(
      "--model <name>",
      "plan for another policy: a folder with a config.json, a GGUF file, or org/name on the hub",
    )
    .addOption(deviceOption())
    .option(
      "--memory <amount>",
      "memory budget, e.g. 24GB (default: this machine's memory, less what the system needs)",
    )
    .option("--allow-ignored", "do not fail on settings that have no effect")
    .option("--no-probe", "do not take the first training steps, so give no forecast of time")
    .addOption(seedOption())
    .addOption(setOption())
    .addOption(pluginOption())
    .addOption(jsonOption())
    .action(async (recipe: string, flags: PlanFlags) => {
      const { parseMemory } = await import("../../run/plan/parse-memory.ts");
      const { plannedRun, planRecipe } = await import("../../run/plan/plan.ts");
      const { plannedModel } = await import("../../run/plan/planned-model.ts");
      const { model, memory } = flags;
      const own = { key: "policy.from", value: model, origin: "--model" };
      const resolved = await settingsOf({ ...flags, recipe }, model === undefined ? [] : [own]);
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
        if (!flags.probe) return { why: "--no-probe" };
        if (plan.server !== null) return { why: "a training server computes" };
        if (plan.memory.fits === false) return { why: "it does not fit" };
        const { trialForecast } = await import("../../run/plan/trial.ts");
        context.note("trial: taking the first training steps (--no-probe skips this)");
        return trialForecast(run, { signal: context.signal, load: loadavg()[0] ?? 0 });
      }
    });
}
