import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { packageRoot } from "../../src/base/package-root.ts";
import { parseRecipe } from "../../src/run/settings/recipe-file.ts";
import { loadSettings, resolveSettings, withOverrides } from "../../src/run/settings/settings.ts";
import { settingsSchema } from "../../src/run/settings/settings-schema.ts";
import { stageList } from "../../src/run/settings/stages.ts";
import "../helpers/all-parts.ts";

const docs = join(packageRoot, "docs");
/** Recipes on these pages name parts of the page's own, and have tests of their own. */
const OWN = new Set(["extend.md", "start.md", "lab-log.md"]);

/** The YAML blocks of a page, each with its place. A block that gives a key twice shows alternatives: each is one. */
function blocksOf(page: string): { title: string; yaml: string }[] {
  const text = readFileSync(join(docs, page), "utf8");
  return [...text.matchAll(/```yaml\n([^]*?)```/g)].flatMap(({ 1: block = "", index }) => {
    const line = text.slice(0, index).split("\n").length;
    return alternatives(block).map((yaml, i) => ({ title: `${page}:${line} ${i + 1}`, yaml }));
  });
}

function alternatives(block: string): string[] {
  const entries = block.split(/^(?=[a-zA-Z])/m);
  const found: string[][] = [[]];
  const keyOf = (entry: string) => /^\w+/.exec(entry)?.[0];
  for (const entry of entries) {
    const isGiven = found.at(-1)!.some((each) => keyOf(each) === keyOf(entry));
    if (isGiven && keyOf(entry) !== undefined) found.push([]);
    found.at(-1)!.push(entry);
  }
  return found.map((each) => each.join(""));
}

/** A recipe of a block, which holds settings, or claims or differences beside them. */
function resolved(yaml: string) {
  const isClaims = /^(claims|differs):/.test(yaml);
  const base = isClaims ? "" : yaml.replace(/^(?=.)/gm, "  ");
  const text = `summary: s\nbase:\n  seed: 1\n${base}tiers:\n  mini: {}\n${isClaims ? yaml : ""}`;
  const recipe = parseRecipe(text, "page.yaml");
  return loadSettings(settingsSchema, resolveSettings(recipe, { tier: "mini" }));
}

const blocks = readdirSync(docs)
  .filter((name) => name.endsWith(".md") && !OWN.has(name))
  .flatMap((page) => blocksOf(page));

describe("settings on the pages", () => {
  it.each(blocks)("$title is what a recipe may hold, and so are its stages", async ({ yaml }) => {
    const all = await resolved(yaml);
    for (const { set, name } of stageList(all.settings.stages ?? [])) {
      const more = Object.entries(set).map(([key, value]) => ({ key, value, origin: name }));
      expect((await withOverrides(settingsSchema, all, more)).settings).toBeDefined();
    }
  });

  it("are keys of the reference where they stand in the text", () => {
    const reference = readFileSync(join(docs, "settings.md"), "utf8").replaceAll("[]", "");
    const keys = [...reference.matchAll(/^\| `([\w.]+)`/gm)].map(([, key = ""]) => key);
    // Options of a part are the part's; `stages.NAME` are results of a stage.
    const nested = keys.filter((key) => key.includes(".") && !key.startsWith("stages."));
    const groups = new Set(nested.map((key) => key.split(".")[0]!));
    const named = readdirSync(docs)
      .filter((name) => name.endsWith(".md") && !OWN.has(name) && name !== "atlas.md")
      .flatMap((page) =>
        [
          ...readFileSync(join(docs, page), "utf8").matchAll(/`([a-z]\w*\.[\w.]+)(?:[=:][^`]*)?`/g),
        ].map(([, key = ""]) => ({ page, key })),
      )
      // Files and metrics have dots as well.
      .filter(
        ({ key }) => groups.has(key.split(".")[0]!) && !/\.(json|jsonl|ts|py|name)$/.test(key),
      );
    expect(named.length).toBeGreaterThan(40);
    const isKnown = (key: string) =>
      keys.some((each) => each === key || each.startsWith(`${key}.`));
    expect(named.filter(({ key }) => !isKnown(key))).toEqual([]);
  });

  it("are many, and have a pipeline for each of these papers", () => {
    expect(blocks.length).toBeGreaterThan(40);
    const page = readFileSync(join(docs, "synthesis.md"), "utf8");
    const pipelines = page.slice(page.indexOf("## Pipelines from papers")).matchAll(/^### (\S+)/gm);
    expect([...pipelines].map(([, name]) => name)).toEqual([
      ...["CoRAG", "EXSEARCH", "StepSearch", "Tool-Star", "Select2Reason", "Collab-RAG", "RARE"],
      "SwS",
    ]);
  });
});
