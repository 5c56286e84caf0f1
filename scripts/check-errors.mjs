// Every error code must be thrown somewhere in src/ and asserted in some test; docs/errors.md lists them all
// (`npm run generate:check`). Prints the codes that fall short.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ERROR_CODES } from "../dist/base/errors.js";

const root = join(import.meta.dirname, "..");
const source = textOf("src", (path) => !path.endsWith(join("base", "errors.ts")));
const tests = textOf("test", (path) => path.endsWith(".test.ts") || path.includes("contracts"));

const codes = Object.keys(ERROR_CODES);
const unthrown = codes.filter((code) => !source.includes(`"${code}"`));
const untested = codes.filter((code) => !new RegExp(`\\b${code}\\b`).test(tests));
report("thrown nowhere in src/", unthrown);
report("asserted by no test", untested);
if (unthrown.length + untested.length === 0)
  console.log(`${codes.length} error codes, each thrown and tested`);

function report(what, list) {
  if (list.length === 0) return;
  console.error(
    `${list.length} of ${codes.length} error codes are ${what}:\n  ${list.join("\n  ")}`,
  );
  process.exitCode = 1;
}

function textOf(folder, wanted) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter(wanted)
    .map((path) => readFileSync(path, "utf8"))
    .join("\n");
}
