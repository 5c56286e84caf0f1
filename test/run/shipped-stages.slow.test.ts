import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadRecipe, shippedRecipes } from "../../src/run/settings/recipe-file.ts";
import { runCli } from "../helpers/run-cli.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const recipes = await Promise.all(shippedRecipes().map((name) => loadRecipe(name)));

describe("a shipped recipe", () => {
  const staged = recipes.filter((recipe) => "stages" in recipe.base).map(({ name }) => name);
  it.each(staged)("%s goes through its stages at the smoke tier", async (name) => {
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
  });
});
