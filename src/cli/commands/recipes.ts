import type { Command } from "commander";
import { shorten } from "../../base/format.ts";
import { renderText } from "../../base/table.ts";
import { AgentrlError, ConfigError } from "../../base/errors.ts";
import { loadRecipe, selectTier, shippedRecipes, tiersOf } from "../../run/settings/recipe-file.ts";
import { experiments } from "../../run/claims.ts";
import { checkClaimMetrics } from "../../experiment/measured-runs.ts";
import type { RecipeFile, Tier } from "../../run/settings/recipe-schema.ts";
import { type Settings, settingsSchema } from "../../run/settings/settings-schema.ts";
import {
  armOverrides,
  checkSettings,
  claimsBase,
  parseSet,
  type ResolvedSettings,
  resolveSettings,
} from "../../run/settings/settings.ts";
import { leavesOf } from "../../base/leaves.ts";
import type { CliCommand, CliContext } from "../command.ts";
import { jsonOption, pluginOption, setOption } from "../options.ts";
import { registerExport } from "./recipes-export.ts";
import { registerPlan } from "./recipes-plan.ts";

/** `agentrl recipes list|show|plan|check|export`: lists recipes, shows their settings, plans, checks and exports them. */
export const recipesCommand: CliCommand = {
  name: "recipes",
  register(program, context) {
    const recipes = program
      .command("recipes")
      .summary("list, show, plan, check and export recipes")
      .description("Recipes: one YAML file per published method, in three sizes (tiers).");
    registerList(recipes, context);
    registerShow(recipes, context);
    registerPlan(recipes, context);
    registerCheck(recipes, context);
    registerExport(recipes, context);
  },
};

function registerList(recipes: Command, context: CliContext): void {
  recipes
    .command("list")
    .description("List the recipes that come with the package.")
    .addOption(jsonOption())
    .action(async ({ json }: { json?: true }) => {
      const all = await Promise.all(shippedRecipes().map((name) => loadRecipe(name)));
      const rows = all.map((recipe) => ({
        name: recipe.name,
        summary: recipe.summary,
        family: recipe.family ?? null,
        paper: recipe.paper?.id ?? null,
        tiers: tiersOf(recipe),
        claims: recipe.claims.tests.map(({ id }) => id),
      }));
      if (json === true) context.out(JSON.stringify({ recipes: rows }));
      else {
        const listed = rows.map(({ name, family, paper, summary }) => [
          ...[name, paper ?? family ?? "", summary],
        ]);
        context.out(renderText({ rows: listed }));
      }
    });
}

interface ShowFlags {
  tier?: string;
  set?: string[];
  plugin?: string[];
  json?: true;
}

function registerShow(recipes: Command, context: CliContext): void {
  recipes
    .command("show")
    .description("Show every setting of a recipe and where its value comes from.")
    .argument("<recipe>", "name of a shipped recipe, or a path")
    .option(
      "--tier <tier>",
      "size of the run: smoke (seconds), mini (minutes on a CPU), paper (published settings); default: mini where the recipe has it",
    )
    .addOption(setOption())
    .addOption(pluginOption())
    .addOption(jsonOption())
    .action(async (name: string, options: ShowFlags) => {
      const recipe = await loadRecipe(name, options.plugin);
      const tier = selectTier(recipe, options.tier);
      const overrides = (options.set ?? []).map(parseSet);
      const resolved = checkSettings(settingsSchema, resolveSettings(recipe, { tier, overrides }));
      if (options.json === true) context.out(JSON.stringify(asJson(resolved)));
      else context.out(asText(resolved));
    });
}

interface CheckFlags {
  all?: true;
  plugin?: string[];
  json?: true;
}

function registerCheck(recipes: Command, context: CliContext): void {
  recipes
    .command("check")
    .description("Check recipes: their structure, every tier, every arm of every claim.")
    .argument("[recipes...]", "names or paths; all shipped recipes when none is given")
    .option("--all", "all shipped recipes, beside those that are named")
    .addOption(pluginOption())
    .addOption(jsonOption())
    .action(async (given: string[], { all, plugin, json }: CheckFlags) => {
      const isAll = all === true || given.length === 0;
      const names = [...new Set([...(isAll ? shippedRecipes() : []), ...given])];
      const problems: AgentrlError[] = [];
      for (const name of names) {
        try {
          await checkRecipe(await loadRecipe(name, plugin));
        } catch (error) {
          if (!(error instanceof AgentrlError)) throw error;
          problems.push(error);
        }
      }
      if (json === true) {
        const found = problems.map(({ code, message }) => ({ code, message }));
        context.out(JSON.stringify({ checked: names.length, problems: found }));
      } else if (problems.length === 0) {
        context.out(
          `${names.length} ${names.length === 1 ? "recipe" : "recipes"} checked, no problem.`,
        );
      }
      const [first] = problems;
      if (first === undefined) return;
      throw new ConfigError(first.code, problems.map(({ message }) => message).join("\n"));
    });
}

/** @throws {ConfigError} the first problem of any tier or arm. */
async function checkRecipe(recipe: RecipeFile): Promise<void> {
  const { requireTrainable } = await import("../../run/checks/require-trainable.ts");
  for (const tier of tiersOf(recipe)) {
    requireTrainable(checkSettings(settingsSchema, resolveSettings(recipe, { tier })));
    for (const claim of experiments(recipe)) {
      for (const arm of claim.arms) {
        const overrides = armOverrides(recipe, { tier, claim, arm });
        const resolved = resolveSettings(recipe, { tier, overrides });
        const { settings } = checkSettings(settingsSchema, resolved);
        checkClaimMetrics(recipe, { claim, arm: arm.name }, settings);
      }
    }
  }
}

function asJson({ recipe, tier, settings, origins }: ResolvedSettings): object {
  const { name, path, summary, paper = null, notes, claims, paperTables } = recipe;
  return {
    name,
    path,
    summary,
    paper,
    notes,
    tier,
    settings,
    origins: Object.fromEntries(origins),
    claims,
    paperTables,
  };
}

function asText({ recipe, tier, settings, origins }: ResolvedSettings<Settings>): string {
  const { name, summary, paper } = recipe;
  const rows = [...leavesOf(settings)].map(([keys, value]) => {
    const key = keys.join(".");
    return [key, shown(value), origins.get(key) ?? ""];
  });
  const source = paper === undefined ? "" : `\n${paper.title} (${paper.id})`;
  // In the table a long expression is cut.
  const reward = settings.reward === undefined ? [] : [`reward = ${settings.reward}`];
  return [
    `${name}, tier ${tier}: ${summary}${source}`,
    renderText({ rows }),
    ...reward,
    ...claimsText(recipe, tier),
  ].join("\n\n");
}

/** The settings of `claims.base`, and the tests with their relations; nothing without claims. */
function claimsText(recipe: RecipeFile, tier: Tier): string[] {
  const { tests } = recipe.claims;
  const base = claimsBase(recipe, tier).flatMap(({ key, value, origin, originOf = () => origin }) =>
    [...leavesOf(value)].map(([keys, leaf]) => {
      return [[key, ...keys].join("."), shown(leaf), originOf([key, ...keys])];
    }),
  );
  const rows = tests.map(({ id, role, metric, relation }) => [
    ...[id, role === "claim" ? "" : role, relation, metric],
  ]);
  return [
    ...(base.length === 0
      ? []
      : [
          `claims.base: what agentrl reproduce lays over these settings\n${renderText({ rows: base }, 2)}`,
        ]),
    ...(rows.length === 0
      ? []
      : [`claims\n${renderText({ columns: ["", "", "relation", "metric"], rows }, 2)}`]),
  ];
}

/** A value on one line, cut so that the origins stay on the screen. */
function shown(value: unknown): string {
  const text = typeof value === "string" ? value.replaceAll("\n", "⏎") : JSON.stringify(value);
  return shorten(text, 40);
}
