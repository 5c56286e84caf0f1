import { createRequire, register } from "node:module";
import { dirname, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { MessageChannel, type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { sha256, sha256File } from "./files.ts";
import { packageRoot } from "./package-root.ts";

/** URLs of the modules that a module imports, by its URL, since `watchImports`. */
const importsOf = new Map<string, Set<string>>();
let imports: MessagePort | null = null;

/**
 * Resolves `import "agentrl"` to this package in every later import, so that plugins share its zod and its registries, and keeps which
 * module imports which.
 */
export function watchImports(): void {
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

/** A loaded file, and the files that it imports or requires, directly or not. */
export function importedFrom(file: string): string[] {
  for (;;) {
    const received = imports === null ? undefined : receiveMessageOnPort(imports);
    if (received === undefined) break;
    const [parent, url] = received.message as [string | undefined, string];
    if (parent === undefined || !url.startsWith("file:")) continue;
    importsOf.set(parent, (importsOf.get(parent) ?? new Set()).add(url));
  }
  const required = createRequire(file).cache;
  const found = new Set([file]);
  // The loop also visits files that it adds.
  for (const each of found) {
    for (const url of importsOf.get(pathToFileURL(each).href) ?? []) found.add(fileURLToPath(url));
    for (const { filename } of required[each]?.children ?? []) found.add(filename);
  }
  return [...found];
}

/** A file's hash; of several files a hash of their paths, from the first one's folder, and contents. */
export async function filesHash(files: readonly string[]): Promise<string> {
  const [first = ""] = files;
  if (files.length === 1) return sha256File(first);
  const hashes = await Promise.all(
    files.map(async (file) => [relative(dirname(first), file), await sha256File(file)].join(" ")),
  );
  return sha256(hashes.sort().join("\n"));
}
