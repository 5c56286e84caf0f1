import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "../base/schema.ts";

/** The package's root folder; src/cli/ and dist/cli/ lie equally deep below it. */
const packageRoot = join(import.meta.dirname, "..", "..");

/** The version in package.json. */
export function packageVersion(): string {
  const text = readFileSync(join(packageRoot, "package.json"), "utf8");
  return z.object({ version: z.string() }).parse(JSON.parse(text)).version;
}
