import { readdir } from "node:fs/promises";
import { join, relative } from "node:path";
import { makeFolder, readText, writeFileAtomic } from "../../base/files.ts";
import { packageRoot } from "../../base/package-root.ts";
import { isPart, PART_KINDS, type PartKind, templateOf } from "../../base/registry.ts";
import { claimOutput } from "../claim-output.ts";
import { defineCommand } from "../command.ts";
import { jsonFlag, outFlag, overwriteFlag } from "../options.ts";
import { usage } from "../usage.ts";

/** What can be made, with the kinds of its part: a recipe, and what a define… helper makes. Each has a folder in templates/. */
const KINDS = new Map<string, PartKind[]>([["recipe", []]]);
for (const kind of Object.keys(PART_KINDS) as PartKind[]) {
  const template = templateOf(kind);
  KINDS.set(template, [...(KINDS.get(template) ?? []), kind]);
}

/** `agentrl new`: a part of the user's own that works, to start from. */
export const newCommand = defineCommand({
  name: "new",
  description:
    "Write a small part that works, a recipe that uses it and a test that passes: NAME.mjs, NAME.yaml and NAME.test.mjs. " +
    "docs/extend.md explains each kind of part.",
  args: [
    ["<kind>", "what to write", [...KINDS.keys()]],
    ["<name>", "name of the part and its files: lower-case words joined by hyphens"],
  ],
  options: {
    out: outFlag("folder of the files (default: the current folder)"),
    overwrite: overwriteFlag("replace files of the same name"),
    json: jsonFlag("one JSON document on stdout: .files[], .commands[]"),
  },
  async run({ out = ".", overwrite, json }, context, kind, name) {
    await requireFreeName(kind, name);
    const files = await filesOf(kind, name);
    const paths = [...files.keys()].map((file) => join(out, file));
    for (const path of paths) claimOutput(path, overwrite);
    await makeFolder(out);
    for (const [file, text] of files) await writeFileAtomic(join(out, file), text);
    const path = (file: string): string => {
      const from = relative(".", join(out, file));
      return from.startsWith("..") ? join(out, file) : `./${from}`;
    };
    const recipe = files.get(`${name}.yaml`) ?? "";
    const isSynthesis = /^ {2}synth:/m.test(recipe) && !/^ {2}stages:/m.test(recipe);
    const command = isSynthesis ? "synth-data" : "train";
    const commands = [
      `${context.call} recipes check ${path(`${name}.yaml`)}`,
      `${context.call} ${command} --recipe ${path(`${name}.yaml`)} --tier smoke --out run-${name}`,
    ];
    if (json === true) context.out(JSON.stringify({ kind, name, files: paths, commands }));
    else {
      const test = `Its test, where agentrl is installed: node --test ${path(`${name}.test.mjs`)}`;
      context.out([`Wrote ${paths.join(", ")}.`, "Next:", ...commands, "", test].join("\n"));
    }
  },
});

/** @throws {ConfigError} USAGE for a name that no part can have, or that a part of the package has. */
async function requireFreeName(kind: string, name: string): Promise<void> {
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name))
    throw usage(
      `<name> is "${name}"; expected lower-case words joined by hyphens, such as my-${kind}.`,
    );
  const parts = KINDS.get(kind) ?? [];
  // Loads every registry.
  if (parts.length > 0) await import("../../run/settings/settings-schema.ts");
  if (!parts.some((part) => isPart(part, name))) return;
  throw usage(
    `<name> is "${name}"; agentrl has a part of that name, so a plugin cannot bring another. Choose another name.`,
  );
}

/** The files of a template by name, with the template's own name replaced. */
async function filesOf(kind: string, name: string): Promise<Map<string, string>> {
  const folder = join(packageRoot, "templates", kind);
  const recipe = await readText(join(folder, "recipe.yaml"));
  // The file that the recipe loads is named after the part; a recipe without one has a fixed name.
  const given = /^plugins: \[\.\/(.+)\.mjs\]$/m.exec(recipe)?.[1] ?? "my-recipe";
  const files = new Map<string, string>();
  for (const file of await readdir(folder)) {
    const text = await readText(join(folder, file));
    files.set(file.replace(/^(part|recipe)/, name), text.replaceAll(given, name));
  }
  return files;
}
