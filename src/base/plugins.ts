import { spawnSync } from "node:child_process";
import { createRequire, register } from "node:module";
import { existsSync } from "node:fs";
import { isAbsolute, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { ConfigError, errorMessage } from "./errors.ts";
import { sha256File } from "./files.ts";
import { packageRoot } from "./package-root.ts";
import { addPart, type Part, PART_KINDS, type PartKind } from "./registry.ts";
import { z } from "./schema.ts";

/** A file with parts of the user's own. */
export interface Plugin {
  /** As the recipe or the flag names it. */
  readonly name: string;
  /** Absolute. */
  readonly file: string;
  /** Of the file itself, without what it imports. */
  readonly sha256: string;
  readonly parts: readonly { kind: PartKind; name: string }[];
}

const loaded = new Map<string, Plugin>();

/** The plugins of this process, in the order in which they were loaded. */
export function loadedPlugins(): readonly Plugin[] {
  return [...loaded.values()];
}

/**
 * Loads a plugin and registers its parts; one that is loaded already is not loaded again. `import … from "agentrl"` in it means this very
 * package, wherever the file stands.
 *
 * @param name a path (./my-parts.mjs) or the name of an npm package.
 * @param from the folder that a path starts from, and that packages are looked up from.
 * @param where the recipe key or flag that named it, for messages.
 * @throws {ConfigError} PLUGIN_NOT_FOUND; PLUGIN_FAILED when the file cannot be loaded; PLUGIN_BAD_PART when what it exports is no part.
 */
export async function loadPlugin(name: string, from: string, where: string): Promise<Plugin> {
  const file = pluginFile(name, from, where);
  const known = loaded.get(file);
  if (known !== undefined) return known;
  resolvePackageName();
  const exported = await importPlugin(file, where);
  const parts = Array.isArray(exported) ? (exported as unknown[]) : [exported];
  const checked = parts.map((part, index) => checkPart(part, index, { file, where }));
  checked.forEach((part) => {
    try {
      addPart(part);
    } catch (error) {
      throw new ConfigError("PLUGIN_BAD_PART", `${where}: ${file}: ${errorMessage(error)}`);
    }
  });
  const plugin = {
    ...{ name, file, sha256: await sha256File(file) },
    parts: checked.map((part) => ({ kind: part.part, name: part.name })),
  };
  loaded.set(file, plugin);
  return plugin;
}

function pluginFile(name: string, from: string, where: string): string {
  if (/^\.{0,2}\//.test(name) || isAbsolute(name)) {
    const file = resolve(from, name);
    if (existsSync(file)) return file;
    throw new ConfigError(
      "PLUGIN_NOT_FOUND",
      `${where} is "${name}": there is no file ${file}. A path starts from the recipe's folder, or from the current folder for --plugin.`,
    );
  }
  try {
    return createRequire(join(from, "plugin.js")).resolve(name);
  } catch (error) {
    const isFile = existsSync(resolve(from, name));
    const advice = isFile
      ? `A file is named by its path: ./${name}.`
      : `Install it there (npm install ${name}), or name a file by its path, such as ./${name}.mjs.`;
    throw new ConfigError(
      "PLUGIN_NOT_FOUND",
      `${where} is "${name}": no package of that name is installed for ${from}. ${advice}`,
      { cause: error },
    );
  }
}

async function importPlugin(file: string, where: string): Promise<unknown> {
  try {
    const module = (await import(pathToFileURL(file).href)) as { default?: unknown };
    if (module.default !== undefined) return module.default;
  } catch (error) {
    const isTypeScript = /\.[cm]?ts$/.test(file) && errorMessage(error).includes("file extension");
    const advice = isTypeScript
      ? `Node ${process.version} does not load TypeScript; from 22.18 on it does. Write the plugin as .mjs, or use a newer Node.`
      : `${error instanceof SyntaxError ? syntaxPlace(file) : placeIn(file, error)}${errorMessage(error)}`;
    throw new ConfigError("PLUGIN_FAILED", `${where}: ${file} cannot be loaded. ${advice}`, {
      cause: error,
    });
  }
  throw new ConfigError(
    "PLUGIN_BAD_PART",
    `${where}: ${file} has no default export. Write: export default [defineReward({ … })];`,
  );
}

const partSchema = z.looseObject({
  part: z.enum(Object.keys(PART_KINDS) as [PartKind, ...PartKind[]]),
  name: z.string().regex(/^[a-z0-9][a-z0-9-]*$/, "expected lower-case words joined by hyphens"),
  summary: z.string().min(1),
});

function checkPart(
  part: unknown,
  index: number,
  { file, where }: { file: string; where: string },
): Part & { part: PartKind } {
  const result = partSchema.safeParse(part);
  if (result.success) return part as Part & { part: PartKind };
  const [issue] = result.error.issues;
  const key = issue?.path.join(".") ?? "";
  const what =
    key === "part" || key === ""
      ? `is not a part; make it with one of ${Object.values(PART_KINDS).join(", ")}`
      : `${key}: ${issue?.message ?? "does not fit"}`;
  throw new ConfigError("PLUGIN_BAD_PART", `${where}: ${file}: export ${index} ${what}.`);
}

/**
 * Where in a plugin an error arose: `file:line:column: ` of the first frame of its stack that lies in one.
 * @returns null when it did not come from a plugin.
 */
export function pluginPlaceOf(error: unknown): string | null {
  for (const { file } of loaded.values()) {
    const place = placeIn(file, error);
    if (place !== "") return place;
  }
  return null;
}

/** Where a file does not parse. A failed import does not say so; Node's own check does. */
function syntaxPlace(file: string): string {
  const { stderr } = spawnSync(process.execPath, ["--check", file], { encoding: "utf8" });
  const line = /:(\d+)\s*$/m.exec(stderr.split("\n")[0] ?? "")?.[1];
  return line === undefined ? "" : `${file}:${line}: `;
}

function placeIn(file: string, error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const url = pathToFileURL(file).href;
  const line = stack.split("\n").find((each) => each.includes(url) || each.includes(file));
  const position = /:(\d+)(?::(\d+))?\)?\s*$/.exec(line ?? "");
  return position === null ? "" : `${file}:${position.slice(1).filter(Boolean).join(":")}: `;
}

let isResolving = false;

/** From here on `import "agentrl"` means this package in every module, so that a plugin shares its zod and its registries. */
function resolvePackageName(): void {
  if (isResolving) return;
  isResolving = true;
  const entry = pathToFileURL(join(packageRoot, "dist", "index.js")).href;
  const hooks = `export const resolve = (name, context, next) =>
    name === "agentrl" ? { url: ${JSON.stringify(entry)}, shortCircuit: true } : next(name, context);`;
  register(`data:text/javascript,${encodeURIComponent(hooks)}`, import.meta.url);
}
