import { existsSync, readdirSync } from "node:fs";
import { basename, isAbsolute, join } from "node:path";
import { packageRoot } from "../../base/package-root.ts";
import { addedParts } from "../../base/registry.ts";
import type { World } from "../../env/world.ts";
import type { Tier } from "./recipe-schema.ts";

/** Recipes that make bases: policies to start from. */
export const basesFolder = join(packageRoot, "recipes", "bases");

/** Names of the bases, sorted: each is a recipe of `basesFolder`. */
export function shippedBases(): string[] {
  return recipesIn(basesFolder);
}

/** Recipes of the bases that worlds of plugins bring, by name. */
function broughtBases(): Map<string, string> {
  const recipes = addedParts<World>("world").flatMap(({ bases }) => bases.filter(isAbsolute));
  return new Map(recipes.map((path) => [basename(path).replace(/\.ya?ml$/, ""), path]));
}

/** Names of all bases. */
export function baseNames(): string[] {
  return [...shippedBases(), ...broughtBases().keys()];
}

/** Names of the recipes in a folder, sorted. */
export function recipesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((file) => file.endsWith(".yaml"))
    .map((file) => file.slice(0, -".yaml".length))
    .sort();
}

/**
 * A base's name with or without a tier: the name or path of its recipe.
 * @example baseNamed("timid@smoke") // { recipe: "timid", tier: "smoke" }
 */
export function baseNamed(name: string): { recipe: string; tier: string | undefined } | null {
  const [base = "", tier] = name.split("@");
  const brought = broughtBases().get(base);
  if (brought !== undefined) return { recipe: brought, tier };
  return /^[a-z][a-z0-9-]*$/.test(base) && shippedBases().includes(base)
    ? { recipe: base, tier }
    : null;
}

/**
 * The policy that a recipe's tier starts from. A smoke run takes the base that its recipe's own smoke tier makes: to make the whole one
 * would take minutes.
 */
export function atTier(from: string, tier: Tier): string {
  const named = tier === "smoke" ? baseNamed(from) : null;
  return named !== null && named.tier === undefined ? `${from}@${tier}` : from;
}
