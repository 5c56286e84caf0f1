import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { PART_KINDS, type PartKind, templateOf } from "../../src/base/registry.ts";
import { docCommands, docFiles, layDocFiles } from "../helpers/extend-doc.ts";
import { spawnCli } from "../helpers/run-cli.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const root = join(import.meta.dirname, "..", "..");

describe("docs/extend.md", () => {
  const folder = temporaryFolder();
  beforeAll(() => {
    layDocFiles(folder);
  });

  it("shows the templates of agentrl new, all of them", () => {
    const shown = new Set(docFiles.values());
    const templates = join(root, "templates");
    const parts = readdirSync(templates).filter((kind) =>
      existsSync(join(templates, kind, "part.mjs")),
    );
    for (const kind of parts)
      for (const file of ["part.mjs", "recipe.yaml"])
        expect(shown).toContain(readFileSync(join(templates, kind, file), "utf8"));
    // Every kind that a plug-in may contain has one.
    const kinds = new Set((Object.keys(PART_KINDS) as PartKind[]).map(templateOf));
    expect(new Set(parts)).toEqual(kinds);
  });

  it("has files that fit the types of the package", () => {
    const files = [...docFiles.keys()].filter((name) => /\.(mjs|ts)$/.test(name));
    const { stdout, status } = spawnSync(
      process.execPath,
      [
        join(root, "node_modules", "typescript", "bin", "tsc"),
        ...["--noEmit", "--strict", "--noImplicitAny", "false", "--allowJs", "--checkJs"],
        ...["--skipLibCheck", "--module", "nodenext", "--target", "es2023", "--types", "node"],
        ...["--typeRoots", join(root, "node_modules", "@types"), ...files],
      ],
      { cwd: folder, encoding: "utf8" },
    );
    expect(stdout).toBe("");
    expect(status).toBe(0);
  });

  it("has recipes that pass agentrl recipes check", () => {
    const recipes = [...docFiles.keys()].filter((name) => name.endsWith(".yaml"));
    const checked = spawnCli(["recipes", "check", ...recipes.map((name) => `./${name}`)], {
      cwd: folder,
    });
    expect(checked.stderr).toBe("");
    expect(checked.stdout).toContain(`${recipes.length} recipes checked`);
  });

  it("gives a command for every recipe that runs its part", () => {
    const recipes = [...docFiles.keys()].filter((name) => name.endsWith(".yaml"));
    const run = (recipe: string) =>
      docCommands.some(
        (line) => /^agentrl (train|synth-data) /.test(line) && line.includes(`./${recipe} `),
      );
    expect(recipes.filter((recipe) => !run(recipe))).toEqual([]);
  });
});
