// The peers are installed beside the benchmarks, not beside the product: `npm install --prefix bench`.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createRequire } from "node:module";

const modules = join(import.meta.dirname, "../../node_modules");

/** Imports an installed peer; ends the process with status 3 where it is missing, which shows as "not installed". */
export async function peer(name) {
  if (!existsSync(join(modules, name))) {
    console.error(`${name} is not installed: npm install --prefix bench`);
    process.exit(3);
  }
  return import(createRequire(import.meta.url).resolve(name));
}

export function versionOf(name) {
  return JSON.parse(readFileSync(join(modules, name, "package.json"), "utf8")).version;
}
