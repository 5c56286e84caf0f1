// Counts the modules that a command line loads, and times it: of dist/ and of each dependency. Reads dist/, so build first.
// Usage: node scripts/loaded-modules.mjs [--time] [--list] COMMAND…
//   node scripts/loaded-modules.mjs --help                      the program's own help
//   node scripts/loaded-modules.mjs --time recipes list         also the median of nine runs
//   node scripts/loaded-modules.mjs --settings search-r1        no command: the settings of a recipe
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const RUNS = 9;
const root = resolve(import.meta.dirname, "..");
const own = pathToFileURL(join(root, "dist")).href;
const given = process.argv.slice(2);
const flags = [];
while (["--time", "--list"].includes(given[0])) flags.push(given.shift());

const settings = join(root, "dist", "run", "settings", "resolve-recipe.js");
const script = `import(${JSON.stringify(settings)}).then((m) => m.resolveRecipe(${JSON.stringify(given[1])}))`;
const args =
  given[0] === "--settings" ? ["-e", script] : [join(root, "bin", "agentrl.js"), ...given];

/** Every file that the process and its children loaded, ESM and CommonJS: V8's coverage names them. */
function loadedModules() {
  const folder = mkdtempSync(join(tmpdir(), "loaded-"));
  try {
    const { status, stderr } = run({ NODE_V8_COVERAGE: folder });
    if (status !== 0) throw new Error(`status ${status}: ${stderr}`);
    const urls = readdirSync(folder).flatMap((name) =>
      JSON.parse(readFileSync(join(folder, name), "utf8")).result.map(({ url }) => url),
    );
    return [...new Set(urls.filter((url) => url.startsWith("file:")))].sort();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function run(env = {}) {
  return spawnSync(process.execPath, args, { env: { ...process.env, ...env }, encoding: "utf8" });
}

function medianSeconds() {
  const seconds = Array.from({ length: RUNS }, () => {
    const began = performance.now();
    run();
    return (performance.now() - began) / 1000;
  });
  return Number(seconds.sort((a, b) => a - b)[(RUNS - 1) / 2].toFixed(3));
}

function countBy(names) {
  const counts = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

const urls = loadedModules();
const modules = urls.filter((url) => url.startsWith(own)).map((url) => url.slice(own.length + 1));
const dependencies = urls.flatMap((url) => {
  const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  return name === undefined ? [] : [name];
});
const report = {
  modules: modules.length,
  folders: countBy(modules.map((path) => path.split("/")[0])),
  dependencies: countBy(dependencies),
};
if (flags.includes("--list")) report.list = modules;
if (flags.includes("--time")) report.medianSeconds = medianSeconds();
console.log(JSON.stringify(report, null, 2));
