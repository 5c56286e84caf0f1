import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire, register } from "node:module";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { MessageChannel, type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { AgentrlError, ConfigError, InternalError, ShapeError, errorMessage } from "./errors.ts";
import { sha256, sha256File } from "./files.ts";
import { leavesOf } from "./leaves.ts";
import { packageRoot } from "./package-root.ts";
import { PART_KINDS, type Part, type PartKind, addPart, requireDescribed } from "./registry.ts";
import { z } from "./schema.ts";

/** A loaded file of user-defined parts. */
export interface Plugin {
  readonly name: string;
  readonly file: string;
  /** The file and every file that it imports, directly or not, when it was loaded; absolute paths, its own first. */
  readonly files: readonly string[];
  readonly sha256: string;
  readonly parts: readonly { kind: PartKind; name: string }[];
}

const loaded = new Map<string, Plugin>();

/** The plugins of this process, in load order. */
export function loadedPlugins(): readonly Plugin[] {
  return [...loaded.values()];
}

/** The plugins whose parts some settings name: a result depends on them, and not on what else is loaded. */
export function pluginsNamedIn(settings: unknown): Plugin[] {
  const texts = new Set([...leavesOf(settings)].map(([, value]) => value));
  return loadedPlugins().filter(({ parts }) => parts.some(({ name }) => texts.has(name)));
}

/** For a hash that must change with a plugin: `{ plugins: { file name: sha256 } }`; nothing where settings name no plugin's part. */
export function pluginHashes(settings: unknown): { plugins?: Record<string, string> } {
  const named = pluginsNamedIn(settings);
  if (named.length === 0) return {};
  return { plugins: Object.fromEntries(named.map((each) => [fileNameOf(each), each.sha256])) };
}

/** A plugin's file without the folder, which differs between machines; of a package, the path inside node_modules. */
export function fileNameOf({ file }: Pick<Plugin, "file">): string {
  const [, inPackage] = /.*\/node_modules\/(.+)$/.exec(file) ?? [];
  return inPackage ?? basename(file);
}

/**
 * Loads a plugin once and registers its parts.
 * @param name a path (./my-parts.mjs) or npm package; `from` the folder of relative names; `where` the recipe key or flag, for messages.
 * @throws {ConfigError} PLUGIN_NOT_FOUND; PLUGIN_FAILED when it cannot be loaded; PLUGIN_BAD_PART when an export is not a part.
 */
export async function loadPlugin(name: string, from: string, where: string): Promise<Plugin> {
  const file = pluginFile(name, from, where);
  const known = loaded.get(file);
  if (known !== undefined) return known;
  watchImports();
  const exported = await importPlugin(file, where);
  const parts = Array.isArray(exported) ? (exported as unknown[]) : [exported];
  const checked = parts.map((part, index) => checkPart(part, index, { file, where }));
  const all = checked.flatMap((part) => [part, ...broughtBy(part)]);
  all.forEach((part) => {
    try {
      addPart(part);
    } catch (error) {
      throw new ConfigError("PLUGIN_BAD_PART", `${where}: ${file}: ${errorMessage(error)}`);
    }
  });
  const files = importedFrom(file);
  const plugin = {
    name,
    file,
    files,
    sha256: await filesHash(files),
    parts: all.map((part) => ({ kind: part.part, name: part.name })),
  };
  loaded.set(file, plugin);
  return plugin;
}

function pluginFile(name: string, from: string, where: string): string {
  if (/^\.{0,2}\//.test(name) || isAbsolute(name)) {
    const file = resolve(from, name);
    if (existsSync(file)) return file;
    const message = `${where} is "${name}": ${file} does not exist. Paths are relative to the recipe's folder, or to the current folder for --plugin.`;
    throw new ConfigError("PLUGIN_NOT_FOUND", message);
  }
  try {
    return createRequire(join(from, "plugin.js")).resolve(name);
  } catch (error) {
    const isFile = existsSync(resolve(from, name));
    const advice = isFile
      ? `Write the path of the file: ./${name}.`
      : `Install it there (npm install ${name}), or write the path of a file, such as ./${name}.mjs.`;
    const message = `${where} is "${name}": the package is not installed for ${from}. ${advice}`;
    throw new ConfigError("PLUGIN_NOT_FOUND", message, { cause: error });
  }
}

async function importPlugin(file: string, where: string): Promise<unknown> {
  try {
    const module = (await import(pathToFileURL(file).href)) as { default?: unknown };
    if (module.default !== undefined) return module.default;
  } catch (error) {
    // Of a define… helper, which says what is wrong.
    if ((error as { code?: unknown }).code === "PLUGIN_BAD_PART")
      throw new ConfigError("PLUGIN_BAD_PART", `${where}: ${file}: ${errorMessage(error)}`);
    const isTypeScript = /\.[cm]?ts$/.test(file) && errorMessage(error).includes("file extension");
    const advice = isTypeScript
      ? `Node ${process.version} cannot load TypeScript; 22.18 and later can. Write the plugin as .mjs, or use a newer Node.`
      : `${error instanceof SyntaxError ? syntaxPlace(file) : placeIn(file, error)}${errorMessage(error)}`;
    throw new ConfigError("PLUGIN_FAILED", `${where}: ${file} cannot be loaded. ${advice}`, {
      cause: error,
    });
  }
  const message = `${where}: ${file} has no default export. Write: export default [defineReward({ … })];`;
  throw new ConfigError("PLUGIN_BAD_PART", message);
}

const partSchema = z.looseObject({
  part: z.enum(Object.keys(PART_KINDS) as [PartKind, ...PartKind[]]),
  name: z.string().regex(/^[a-z0-9][a-z0-9-]*$/, "expected lower-case words joined by hyphens"),
  summary: z.string().min(1),
});

function broughtBy(part: Part & { parts?: unknown }): (Part & { part: PartKind })[] {
  return typeof part.parts === "function"
    ? (part.parts as () => (Part & { part: PartKind })[])()
    : [];
}

function checkPart(
  part: unknown,
  index: number,
  { file, where }: { file: string; where: string },
): Part & { part: PartKind } {
  const result = partSchema.safeParse(part);
  if (result.success) {
    const { part: kind } = result.data;
    try {
      const { runs } = PART_KINDS[kind];
      requireDescribed(kind, result.data, runs === null ? [] : [runs]);
    } catch (error) {
      throw new ConfigError("PLUGIN_BAD_PART", `${where}: ${file}: ${errorMessage(error)}`);
    }
    return part as Part & { part: PartKind };
  }
  const [issue] = result.error.issues;
  const key = issue?.path.join(".") ?? "";
  const what =
    key === "part" || key === ""
      ? `is not a part; make it with one of ${Object.values(PART_KINDS)
          .map(({ helper }) => helper)
          .join(", ")}`
      : `${key}: ${issue?.message ?? "does not fit"}`;
  throw new ConfigError("PLUGIN_BAD_PART", `${where}: ${file}: export ${index} ${what}.`);
}

/** A mistake in a plugin's code as PLUGIN_FAILED with file:line:column; any other error, and failures of network, disk and time, unchanged. */
export function asPluginError(error: unknown): unknown {
  const isOurs = error instanceof AgentrlError;
  const isUnexpected = error instanceof InternalError || error instanceof ShapeError;
  if ((isOurs && !isUnexpected) || isOutside(error)) return error;
  const files = [...loaded.values()].flatMap((each) => each.files);
  const place = files.map((file) => placeIn(file, error)).find((each) => each !== "");
  return place === undefined
    ? error
    : new ConfigError("PLUGIN_FAILED", `${place}${errorMessage(error)}`, { cause: error });
}

/** System errors have a code (ECONNREFUSED), which fetch puts on the cause; Node's own complaints about arguments begin with ERR_. */
function isOutside(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.name === "AbortError" || error.name === "TimeoutError") return true;
  const { code } = error as { code?: unknown };
  return (typeof code === "string" && !code.startsWith("ERR_")) || isOutside(error.cause);
}

/** The line of a syntax error. Node's import error does not contain it; `node --check` prints it. */
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

/** URLs of the modules that a module imports, by its URL, since `watchImports`. */
const importsOf = new Map<string, Set<string>>();
let imports: MessagePort | null = null;

/** Resolves `import "agentrl"` to this package in later imports, and keeps which module imports which. */
function watchImports(): void {
  if (imports !== null) return;
  const { port1, port2 } = new MessageChannel();
  port1.unref();
  imports = port1;
  const entry = pathToFileURL(join(packageRoot, "dist", "index.js")).href;
  const hooks = `let port;
    export const initialize = (given) => { port = given; };
    export const resolve = async (name, context, next) => {
      if (name === "agentrl") return { url: ${JSON.stringify(entry)}, shortCircuit: true };
      const found = await next(name, context);
      port.postMessage([context.parentURL, found.url]);
      return found;
    };`;
  register(`data:text/javascript,${encodeURIComponent(hooks)}`, {
    parentURL: import.meta.url,
    data: port2,
    transferList: [port2],
  });
}

function importedFrom(file: string): string[] {
  for (;;) {
    const received = imports === null ? undefined : receiveMessageOnPort(imports);
    if (received === undefined) break;
    const [parent, url] = received.message as [string | undefined, string];
    if (parent === undefined || !url.startsWith("file:")) continue;
    importsOf.set(parent, (importsOf.get(parent) ?? new Set()).add(url));
  }
  const required = createRequire(file).cache;
  const found = new Set([file]);
  for (const each of found) {
    for (const url of importsOf.get(pathToFileURL(each).href) ?? []) found.add(fileURLToPath(url));
    for (const { filename } of required[each]?.children ?? []) found.add(filename);
  }
  return [...found];
}

/** A file's hash; of several files a hash of their paths, from the first one's folder, and contents. */
async function filesHash(files: readonly string[]): Promise<string> {
  const [first = ""] = files;
  if (files.length === 1) return sha256File(first);
  const hashes = await Promise.all(
    files.map(async (file) => [relative(dirname(first), file), await sha256File(file)].join(" ")),
  );
  return sha256(hashes.sort().join("\n"));
}
