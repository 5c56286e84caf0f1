import { shorten } from "../../base/format.ts";
import { leavesOf } from "../../base/leaves.ts";
import { renderText } from "../../base/table.ts";
import { differenceLines, differencesOf } from "../../run/checks/paper-tier.ts";
import { loadRecipe, selectTier } from "../../run/settings/recipe-file.ts";
import type { RecipeFile, Tier } from "../../run/settings/recipe-schema.ts";
import { type Settings, settingsSchema } from "../../run/settings/settings-schema.ts";
import {
  claimsBase,
  loadSettings,
  parseSet,
  type ResolvedSettings,
  resolveSettings,
} from "../../run/settings/settings.ts";
import { defineCommand } from "../command.ts";
import { jsonFlag, pluginFlag, setFlag, tierFlag } from "../options.ts";

/** Adds `agentrl recipes show`. */
export const recipesShow = defineCommand({
  name: "show",
  description: "Show every setting of a recipe and where its value comes from.",
  args: [["<recipe>", "name of a shipped recipe, or a path"]],
  options: { tier: tierFlag(), set: setFlag(), plugin: pluginFlag(), json: jsonFlag() },
  async run({ set = [], json, ...flags }, context, name) {
    const recipe = await loadRecipe(name, flags.plugin);
    const tier = selectTier(recipe, flags.tier);
    const given = resolveSettings(recipe, { tier, overrides: set.map(parseSet) });
    const resolved = await loadSettings(settingsSchema, given);
    context.out(json === true ? JSON.stringify(asJson(resolved)) : asText(resolved));
  },
});

function asJson({ recipe, tier, settings, origins }: ResolvedSettings): object {
  const { name, path, summary, paper = null, notes, claims, paperTables } = recipe;
  return {
    name,
    path,
    summary,
    paper,
    notes,
    differs: tier === "paper" ? differencesOf(recipe) : [],
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
    ...differsText({ recipe, tier }),
    ...claimsText(recipe, tier),
  ].join("\n\n");
}

function differsText(resolved: Pick<ResolvedSettings, "recipe" | "tier">): string[] {
  const lines = differenceLines(resolved).map((line) => `  ${line}`);
  return lines.length === 0 ? [] : [`differs from the paper\n${lines.join("\n")}`];
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
