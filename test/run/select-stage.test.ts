import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseYamlValue } from "../../src/base/yaml.ts";
import { runStages } from "../../src/run/driver.ts";
import { resolveRecipe } from "../../src/run/settings/resolve-recipe.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const out = temporaryFolder();

/** Draws of the teacher that knows the gold documents: four questions, no model. */
async function run(name: string, stages: string) {
  const overrides = [
    { key: "synth", value: { teacher: { name: "gold-chain" }, limit: 4 }, origin: "test" },
    { key: "stages", value: parseYamlValue(stages, "test"), origin: "test" },
  ];
  const resolved = await resolveRecipe("search-r1", { tier: "smoke", overrides });
  const session = { out: join(out, name), version: "0", signal: new AbortController().signal };
  return runStages(resolved, session, { around: false });
}

const rowsOf = (...names: string[]): string[] =>
  readFileSync(join(out, ...names), "utf8")
    .split("\n")
    .filter(Boolean);

describe("a stage select", () => {
  it("selects by its own steps from the draws of an earlier stage, which keeps its samples", async () => {
    const steps = "{ synth.selection: [shuffled], synth.validation: 0.5 }";
    const { stages } = await run(
      "twice",
      `[{ do: synth }, { do: select, data: synth, set: ${steps} }]`,
    );
    const drawn = rowsOf("twice/stages/1-synth/samples.jsonl");
    const [samples, validation] = ["samples", "validation"].map((name) =>
      rowsOf(`twice/stages/2-select/${name}.jsonl`),
    );
    expect(drawn).toHaveLength(4);
    expect([...(samples ?? []), ...(validation ?? [])].toSorted()).toEqual(drawn.toSorted());
    expect(validation?.length).toBeGreaterThan(0);
    expect(existsSync(join(out, "twice/stages/2-select/draws.jsonl"))).toBe(false);
    expect(stages[1]?.facts).toMatchObject({ questions: 4, recipe: "search-r1" });
  });

  it("needs draws", async () => {
    await expect(run("none", "[{ do: select }]")).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", 'a stage "select" needs the draws of one stage "synth"'),
    );
  });
});
