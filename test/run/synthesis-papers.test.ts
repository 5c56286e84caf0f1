import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { packageRoot } from "../../src/base/package-root.ts";
import { parseRecipe } from "../../src/run/settings/recipe-file.ts";
import { checkSettings, resolveSettings, withOverrides } from "../../src/run/settings/settings.ts";
import { settingsSchema } from "../../src/run/settings/settings-schema.ts";
import { stageList } from "../../src/run/settings/stages.ts";

const page = readFileSync(join(packageRoot, "docs", "synthesis-papers.md"), "utf8");
const blocks = page
  .split(/^## /m)
  .slice(1)
  .flatMap((section): [string, string][] => {
    const yaml = /```yaml\n(.*?)```/s.exec(section)?.[1];
    return yaml === undefined ? [] : [[section.slice(0, section.indexOf("\n")), yaml]];
  });

describe("docs/synthesis-papers.md", () => {
  it("has a block for each of its papers", () => {
    expect(blocks.map(([title]) => title.split(" ")[0])).toEqual([
      ...["CoRAG", "EXSEARCH", "StepSearch", "Tool-Star", "Select2Reason", "Collab-RAG", "RARE"],
      "SwS",
    ]);
  });

  it.each(blocks)("%s: its block is what a recipe may hold, and so are its stages", (_, yaml) => {
    const base = yaml.replace(/^(?=.)/gm, "  ");
    const recipe = parseRecipe(`summary: s\nbase:\n${base}tiers:\n  mini: {}\n`, "page.yaml");
    const resolved = checkSettings(settingsSchema, resolveSettings(recipe, { tier: "mini" }));
    for (const { set, name } of stageList(resolved.settings.stages ?? [])) {
      const more = Object.entries(set).map(([key, value]) => ({ key, value, origin: name }));
      expect(withOverrides(settingsSchema, resolved, more).settings).toBeDefined();
    }
    expect(resolved.settings.synth?.teacher.name).toBe("model");
  });
});
