import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../base/package-root.ts";
import type { Tier } from "./recipe-schema.ts";

/** Recipes that make bases: policies to start from. */
export const basesFolder = join(packageRoot, "recipes", "bases");

/** Names of the bases, sorted: each is a recipe of `basesFolder`. */
export function shippedBases(): string[] {
  return recipesIn(basesFolder);
}

/** Names of the recipes in a folder, sorted. */
export function recipesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((file) => file.endsWith(".yaml"))
    .map((file) => file.slice(0, -".yaml".length))
    .sort();
}

/** A base's name with or without a tier. @example baseNamed("timid@smoke") // { recipe: "timid", tier: "smoke" } */
export function baseNamed(name: string): { recipe: string; tier: string | undefined } | null {
  const [recipe = "", tier] = name.split("@");
  return /^[a-z][a-z0-9-]*$/.test(recipe) && shippedBases().includes(recipe)
    ? { recipe, tier }
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
