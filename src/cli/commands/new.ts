import { join, relative } from "node:path";
import { Argument, type Command } from "commander";
import { ConfigError } from "../../base/errors.ts";
import { makeFolder, readText, writeFileAtomic } from "../../base/files.ts";
import { packageRoot } from "../../base/package-root.ts";
import { isPart, type PartKind } from "../../base/registry.ts";
import type { CliCommand, CliContext } from "../command.ts";
import { jsonOption, outOption, overwriteOption } from "../options.ts";
import { claimOutput } from "../claim-output.ts";

/** What can be made, with the kind of its part. Each has a folder in templates/. */
const KINDS = {
  reward: "reward",
  estimator: "advantage estimator",
  protocol: "protocol",
  tool: "tool",
  environment: "environment",
  world: "world",
  loss: "loss",
  strategy: "strategy",
  sampler: "sampler",
  filter: "filter",
  retriever: "retriever",
  recipe: null,
} as const satisfies Record<string, PartKind | null>;

type Kind = keyof typeof KINDS;

interface NewFlags {
  out?: string;
  overwrite?: true;
  json?: true;
}

/** `agentrl new`: a part of the user's own that works, to start from. */
export const newCommand: CliCommand = {
  name: "new",
  register(program: Command, context: CliContext) {
    program
      .command("new")
      .summary("write a part of your own to start from, with its recipe and test")
      .description(
        "Write a small part that works, a recipe that uses it and a test that passes: NAME.mjs, NAME.yaml and NAME.test.mjs. " +
          "docs/extend.md explains each kind of part.",
      )
      .addArgument(new Argument("<kind>", "what to write").choices(Object.keys(KINDS)))
      .argument("<name>", "name of the part and its files: lower-case words joined by hyphens")
      .addOption(outOption("folder of the files (default: the current folder)"))
      .addOption(overwriteOption("replace files of the same name"))
      .addOption(jsonOption("one JSON document on stdout: .files[], .commands[]"))
      .action((kind: Kind, name: string, flags: NewFlags) => write(kind, name, flags, context));
  },
};

async function write(
  kind: Kind,
  name: string,
  { out = ".", overwrite, json }: NewFlags,
  context: CliContext,
): Promise<void> {
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
  const commands = [
    `${context.call} recipes check ${path(`${name}.yaml`)}`,
    `${context.call} train --recipe ${path(`${name}.yaml`)} --tier smoke --out run-${name}`,
  ];
  if (json === true) context.out(JSON.stringify({ kind, name, files: paths, commands }));
  else {
    const test = `Its test, where agentrl is installed: node --test ${path(`${name}.test.mjs`)}`;
    context.out([`Wrote ${paths.join(", ")}.`, "Next:", ...commands, "", test].join("\n"));
  }
}

/** @throws {ConfigError} USAGE for a name that no part can have, or that a part of the package has. */
async function requireFreeName(kind: Kind, name: string): Promise<void> {
  if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name)) {
    throw new ConfigError(
      "USAGE",
      `<name> is "${name}"; expected lower-case words joined by hyphens, such as my-${kind}.`,
    );
  }
  const part = KINDS[kind];
  if (part === null) return;
  // Loads every registry.
  await import("../../run/settings/settings-schema.ts");
  if (!isPart(part, name)) return;
  throw new ConfigError(
    "USAGE",
    `<name> is "${name}"; agentrl has a part of that name, so a plugin cannot bring another. Choose another name.`,
  );
}

/** The files of a template by name, with the template's own name replaced. */
async function filesOf(kind: Kind, name: string): Promise<Map<string, string>> {
  const folder = join(packageRoot, "templates", kind);
  const recipe = await readText(join(folder, "recipe.yaml"));
  // The file that the recipe loads is named after the part; a recipe without one has a fixed name.
  const given = /^plugins: \[\.\/(.+)\.mjs\]$/m.exec(recipe)?.[1] ?? "my-recipe";
  const renamed = (text: string): string => text.replaceAll(given, name);
  const files = new Map([[`${name}.yaml`, renamed(recipe)]]);
  if (KINDS[kind] !== null)
    files.set(`${name}.mjs`, renamed(await readText(join(folder, "part.mjs"))));
  return files.set(`${name}.test.mjs`, renamed(await readText(join(folder, "part.test.mjs"))));
}
