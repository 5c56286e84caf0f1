import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { resolveRecipe } from "../../../src/run/settings/resolve-recipe.ts";
import { toYaml } from "../../../src/run/settings/resolved-yaml.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const recipe = join(folder, "mine", "own.yaml");
mkdirSync(join(folder, "mine"));
writeFileSync(
  recipe,
  `summary: own
base:
  policy: { from: ../model }
  dataset: { name: files, tasks: qa.csv, corpus: ../docs }
  evaluation: { dataset: { name: files, tasks: /data/test.csv } }
  retriever: { name: bm25, index: idx }
  sft: { data: [draws, /data/more.jsonl] }
tiers: { mini: {} }
`,
);

describe("paths of a recipe file", () => {
  it("start from its folder", async () => {
    const { settings } = await resolveRecipe(recipe);
    expect(settings.policy.from).toBe(join(folder, "model"));
    expect(settings.dataset).toMatchObject({
      tasks: join(folder, "mine", "qa.csv"),
      corpus: join(folder, "docs"),
    });
    expect(settings.evaluation.dataset).toMatchObject({ tasks: "/data/test.csv" });
    expect(settings.retriever).toMatchObject({ index: join(folder, "mine", "idx") });
    expect(settings.sft).toMatchObject({
      data: [join(folder, "mine", "draws"), "/data/more.jsonl"],
    });
  });

  it("stay relative to the current folder where the recipe's own path is", async () => {
    const { settings } = await resolveRecipe(relative(process.cwd(), recipe));
    const own = relative(process.cwd(), join(folder, "mine", "qa.csv"));
    expect(settings.dataset).toMatchObject({ tasks: own });
  });

  it("give way to overrides, whose paths start from the current folder", async () => {
    const overrides = [{ key: "dataset.tasks", value: "other.csv", origin: "--set" }];
    const { settings } = await resolveRecipe(recipe, { overrides });
    expect(settings.dataset).toMatchObject({ tasks: "other.csv" });
  });

  it("are the same files in the recipe of a run, wherever that lies", async () => {
    const overrides = [{ key: "dataset.tasks", value: "other.csv", origin: "--set" }];
    const copy = join(folder, "recipe.resolved.yaml");
    writeFileSync(copy, toYaml(await resolveRecipe(recipe, { overrides }), folder));
    expect(readFileSync(copy, "utf8")).toContain("tasks: ../");
    const { settings } = await resolveRecipe(copy);
    expect(settings.dataset).toMatchObject({
      tasks: resolve("other.csv"),
      corpus: join(folder, "docs"),
    });
  });
});
