// npm run bench -- <name> [--json]: one JSON document on stdout with --json, a table for people on stderr.
import { existsSync } from "node:fs";

const benchmarks = {
  asynchronous: () => import("./asynchronous.mjs"),
  ceiling: () => import("./ceiling.mjs"),
  dashboard: () => import("./dashboard.mjs"),
  engine: () => import("./engine.mjs"),
  evaluation: () => import("./evaluation.mjs"),
  forecast: () => import("./forecast.mjs"),
  gpu: () => import("./gpu.mjs"),
  reporters: () => import("./reporters.mjs"),
  retrieval: () => import("./retrieval.mjs"),
  sandbox: () => import("./sandbox.mjs"),
  serve: () => import("./serve.mjs"),
  soak: () => import("./soak.mjs"),
  synthesis: () => import("./synthesis.mjs"),
  training: () => import("./training.mjs"),
  worlds: () => import("./worlds.mjs"),
};

const [name, ...rest] = process.argv.slice(2);
const load = benchmarks[name];
if (load === undefined) {
  console.error(
    `npm run bench -- NAME [--json]; NAME is one of: ${Object.keys(benchmarks).join(", ")}.`,
  );
  process.exit(2);
}
if (!existsSync(new URL("../dist/", import.meta.url))) {
  console.error("dist/ is missing: benchmarks run what is built. Run `npm run build` first.");
  process.exit(2);
}
await import("../dist/base/telemetry.js"); // off before any contender loads the runtime
const { measure, table } = await load();
const result = await measure(rest);
console.error(table(result));
if (rest.includes("--json")) process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
