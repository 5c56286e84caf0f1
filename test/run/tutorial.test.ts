import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { resolveRecipe } from "../../src/run/settings/resolve-recipe.ts";
import { parseSet } from "../../src/run/settings/settings.ts";
import { spawnCli } from "../helpers/run-cli.ts";
import { tutorialFile, tutorialPage } from "../helpers/tutorial-page.ts";

const folder = mkdtempSync(join(tmpdir(), "tutorial-"));
writeFileSync(join(folder, "short-queries.mjs"), tutorialFile("js"));
writeFileSync(join(folder, "my-search.yaml"), tutorialFile("yaml"));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Overrides that the page names, in commands and in its text. */
const named = [
  ...tutorialPage.matchAll(
    /--set '([^']+)'|--set (\S+)|`'?((?:algorithm|environment|budgets)\.[^`']+)'?`/g,
  ),
].map(([, quoted, plain, inText]) => quoted ?? plain ?? inText ?? "");
const overrides = [...new Set(named)];

describe("docs/start.md", () => {
  it("has a recipe whose plugin, settings and claim are valid", () => {
    const { stdout, stderr, status } = spawnCli(["recipes", "check", "./my-search.yaml"], {
      cwd: folder,
    });
    expect(stderr).toBe("");
    expect(status).toBe(0);
    expect(stdout).toContain("no problem");
  });

  it("has rewards that pay nothing without an answer", () => {
    const args = ["reward", "check", "--recipe", "./my-search.yaml", "--tier", "smoke"];
    const { stdout, status } = spawnCli(args, { cwd: folder });
    expect(status).toBe(0);
    expect(stdout).toContain("A policy that does not answer earns nothing.");
  });

  it("names a plugin's reward in overrides that are valid", () => {
    const sets = overrides.filter((each) => each.includes("short-queries"));
    const args = ["recipes", "show", "search-r1", "--plugin", "./short-queries.mjs"];
    const { stderr, status } = spawnCli([...args, ...sets.flatMap((each) => ["--set", each])], {
      cwd: folder,
    });
    expect(sets).toHaveLength(2);
    expect(stderr).toBe("");
    expect(status).toBe(0);
  });

  it.each(overrides.filter((each) => !each.includes("short-queries")))(
    "has a valid override %s",
    async (override) => {
      const resolved = await resolveRecipe("search-r1", {
        tier: "smoke",
        overrides: [parseSet(override)],
      });
      expect(resolved.settings).toBeDefined();
    },
  );
});
