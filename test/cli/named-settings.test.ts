import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import { schemasOfKey, unwrapped, z } from "../../src/base/schema.ts";
import type { CliContext } from "../../src/cli/command.ts";
import { commandGroups } from "../../src/cli/commands/index.ts";
import { engineSetting } from "../../src/engine/tinker/connection.ts";
import { protocols } from "../../src/env/protocols/index.ts";
import { commandCaller } from "../../src/http/caller.ts";
import { httpShape } from "../../src/http/http-options.ts";
import { settingsSchema } from "../../src/run/settings/settings-schema.ts";
import { environments } from "../../src/worlds/datasets.ts";
import "../helpers/all-parts.ts";

const SOURCE = join(import.meta.dirname, "..", "..", "src");

/** Options of other programs that messages tell to start. */
const OF_OTHERS =
  /VLLM|vLLM|llama-server|verl|SkyRL|node --|npm |git |wget |pip |uv |container|mlflow|llama-gguf-split|NODE_OPTIONS|ignore-scripts/i;

/** Texts of the source with a blank, placeholders as "…": messages and help, not imports and names. */
function textsOf(file: string): string[] {
  const source = ts.createSourceFile(file, readFileSync(file, "utf8"), ts.ScriptTarget.Latest);
  const texts: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) texts.push(node.text);
    else if (ts.isTemplateExpression(node))
      texts.push(
        [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join("…"),
      );
    ts.forEachChild(node, visit);
  };
  visit(source);
  return texts.filter((text) => /\s/.test(text.trim()));
}

const texts = readdirSync(SOURCE, { recursive: true, encoding: "utf8" })
  // Not styles, whose variables look like options.
  .filter((name) => /\.tsx?$/.test(name) && !/style\.ts$|browser/.test(name))
  .flatMap((name) => textsOf(join(SOURCE, name)).map((text) => ({ name, text })));

function optionsOf(command: Command): string[] {
  const own = command.options.flatMap(({ long }) => long ?? []);
  return [...own, ...command.commands.flatMap(optionsOf)];
}

const program = new Command("agentrl");
for (const { commands } of commandGroups)
  for (const command of commands) await command.register(program, {} as CliContext);
const options = new Set([...optionsOf(program), ...["--help", "--version", "--quiet", "--debug"]]);

/** Of a choice by name, the options of every part. */
function layersOf(schema: z.ZodType): z.ZodType[] {
  return unwrapped(schema).flatMap((layer) =>
    layer instanceof z.ZodDiscriminatedUnion || layer instanceof z.ZodUnion
      ? (layer.options as z.ZodType[]).flatMap(layersOf)
      : [layer],
  );
}

/** A key that names a part is followed by the options of any of its kind. */
const PARTS: Record<string, z.ZodType[]> = {
  environment: environments.parts.map(({ options: schema }) => schema),
  protocol: protocols.parts.map(({ options: schema }) => schema),
};

function exists(key: string): boolean {
  let schemas: z.ZodType[] = [settingsSchema];
  for (const part of key.replace(/\.name$/, "").split(".")) {
    const found = schemas.flatMap(layersOf).flatMap((schema) => schemasOfKey(schema, part));
    schemas = [...found, ...(found.length === 0 ? [] : (PARTS[part] ?? []))];
  }
  return schemas.length > 0;
}

describe("what a message tells to set", () => {
  it("exists: every dotted key of a recipe that a text of the source names", () => {
    const roots = Object.keys(settingsSchema.shape).join("|");
    const key = new RegExp(
      `(?<![\\w./@$-])(?:${roots})(?:\\.[a-zA-Z]\\w*)+(?![\\w/…]|\\.\\w)(?<!\\.json)`,
      "g",
    );
    const told = texts.filter(({ text }) => !text.includes("was renamed"));
    const found = told.flatMap(({ name, text }) =>
      [...text.matchAll(key)].map(([named]) => `${name}: ${named}`),
    );
    expect(found.length).toBeGreaterThan(100);
    expect(found.filter((each) => !exists(each.replace(/.*: /, "")))).toEqual([]);
  });

  it("exists: every option that a text of the source names", () => {
    const found = texts
      .filter(({ text }) => !OF_OTHERS.test(text))
      .flatMap(({ name, text }) =>
        [...text.matchAll(/(?<![\w-])--[a-z][a-z0-9-]*[a-z0-9](?![\w-]*…)/g)].map(
          ([named]) => `${name}: ${named}`,
        ),
      );
    expect(found.length).toBeGreaterThan(200);
    expect(found.filter((each) => !options.has(each.replace(/.*: /, "")))).toEqual([]);
  });

  it("exists: every name that a client of a server gives to its limits", () => {
    const keys = [...Object.keys(httpShape), "apiKeyEnv"] as Parameters<typeof engineSetting>[0][];
    const engine = keys.flatMap((key) => engineSetting(key) ?? []);
    expect(engine.filter((key) => !exists(key))).toEqual([]);
    const policy = keys.map((key) => commandCaller("policy", "policy.endpoint").nameOf(key) ?? "");
    const named = policy.flatMap((text) => text.match(/--[a-z-]+|[a-z]+\.[\w.]+/g) ?? []);
    expect(named.length).toBeGreaterThan(keys.length);
    expect(named.filter((each) => !(each.startsWith("--") ? options.has(each) : exists(each)))).toEqual([]); // prettier-ignore
  });
});
