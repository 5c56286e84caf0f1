import { join } from "node:path";
import { readText } from "../../base/files.ts";
import { packageRoot } from "../../base/package-root.ts";

/** What pages have that answers: each with its modules, every one after those that it imports. */
const PARTS = {
  viewer: ["elements", "viewer-data", "filter", "list-view", "detail-view", "beside", "viewer"],
  curves: ["elements", "../short-number", "curves"],
} as const;

/**
 * The browser's side as one script: its compiled modules one after another, imports and `export` left out, in a function of their own. So no
 * bundler is needed; the modules share one scope, in which two top-level names that are alike would be a syntax error.
 *
 * @throws {DataError} FILE_MISSING when the package was not built.
 */
export async function browserScript(
  parts: readonly (keyof typeof PARTS)[] = ["viewer"],
): Promise<string> {
  const folder = join(packageRoot, "dist", "report", "browser");
  const modules = [...new Set(parts.flatMap((part) => PARTS[part]))];
  const texts = await Promise.all(
    modules.map(async (name) => {
      const text = await readText(join(folder, `${name}.js`));
      return text
        .replace(/^import .*;\n/gm, "")
        .replace(/^export (?=async |function |const )/gm, "");
    }),
  );
  return `(() => {\n"use strict";\n${texts.join("")}})();\n`;
}
