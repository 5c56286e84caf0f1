import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The package's folder, with recipes/ and datasets/; src/base/ and dist/base/ have the same depth. */
export const packageRoot = join(import.meta.dirname, "..", "..");

/** The version in package.json. */
export function packageVersion(): string {
  const text = readFileSync(join(packageRoot, "package.json"), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}
