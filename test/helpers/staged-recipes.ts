import { join } from "node:path";
import { expect } from "vitest";
import { groupedBy } from "../../src/base/grouped-by.ts";
import { loadRecipe, shippedRecipes } from "../../src/run/settings/recipe-file.ts";
import { runCli } from "./run-cli.ts";

/** Names of the shipped recipes with stages: in `first` one for each combination of stages and tools, in `further` the others. */
export async function stagedRecipes(): Promise<{ first: string[]; further: string[] }> {
  const recipes = await Promise.all(shippedRecipes().map((name) => loadRecipe(name)));
  const staged = recipes.filter((recipe) => "stages" in recipe.base);
  const alike = [...groupedBy(staged, kindOf).values()].map((each) => each.map(({ name }) => name));
  return {
    first: alike.map(([name = ""]) => name),
    further: alike.flatMap(([, ...names]) => names),
  };
}

function kindOf({ base }: Awaited<ReturnType<typeof loadRecipe>>): string {
  const { stages, environment } = base;
  const { tools } = (environment ?? {}) as { tools?: unknown };
  return JSON.stringify([namesIn(stages), namesIn(tools)]);
}

/** Kinds of stages, or names of tools; what else they are told is left out. */
function namesIn(parts: unknown): unknown {
  if (!Array.isArray(parts)) return parts;
  return parts.map((part: unknown) => {
    if (typeof part !== "object" || part === null) return part;
    const { do: kind, name, stages } = part as Record<string, unknown>;
    return kind ?? name ?? namesIn(stages);
  });
}

/** Trains a recipe's smoke tier in a folder, and expects that every stage learned something. */
export async function throughItsStages(name: string, folder: string): Promise<void> {
  const out = join(folder, name);
  const flags = ["train", "--recipe", name, "--tier", "smoke", "--out", out, "--json"];
  const { status, stdout, stderr } = await runCli(flags);
  expect(stderr).toContain("stage 1/");
  expect(status).toBe(0);
  const result = JSON.parse(stdout) as {
    stages: { do: string; facts: { steps?: number } }[];
    eval: Record<"before" | "after", { n: number }>;
  };
  expect(result.eval.after.n).toBe(result.eval.before.n);
  const learned = result.stages.filter(({ do: kind }) => kind !== "synth");
  for (const { facts } of learned) expect(facts.steps).toBeGreaterThan(0);
}
