// Finds import circles in src/, `import type` included: import-x/no-cycle does not follow type imports.
// Usage: node scripts/check-circles.mjs
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import ts from "typescript";

const ROOT = resolve(import.meta.dirname, "..");

/** The files of src/ that this one imports, as absolute paths. */
function importsOf(file) {
  return ts
    .preProcessFile(readFileSync(file, "utf8"))
    .importedFiles.filter(({ fileName }) => fileName.startsWith("."))
    .map(({ fileName }) => resolve(dirname(file), fileName));
}

/** A shortest path of imports from a file back to itself; undefined where there is none. */
function circleThrough(start, graph) {
  const cameFrom = new Map();
  const queue = [start];
  for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
    for (const next of graph.get(file) ?? []) {
      if (next === start) return pathTo(file, cameFrom, start);
      if (cameFrom.has(next)) continue;
      cameFrom.set(next, file);
      queue.push(next);
    }
  }
  return undefined;
}

function pathTo(file, cameFrom, start) {
  const path = [file];
  while (path[0] !== start) path.unshift(cameFrom.get(path[0]));
  return [...path, start];
}

/** One circle for each group of files that import each other. */
function circlesOf(graph) {
  const reported = new Set();
  return [...graph.keys()].flatMap((file) => {
    if (reported.has(file)) return [];
    const circle = circleThrough(file, graph);
    circle?.forEach((member) => reported.add(member));
    return circle === undefined ? [] : [circle];
  });
}

const files = readdirSync(join(ROOT, "src"), { recursive: true })
  .filter((name) => /\.tsx?$/.test(name))
  .map((name) => join(ROOT, "src", name));
const circles = circlesOf(new Map(files.map((file) => [file, importsOf(file)])));
for (const circle of circles)
  console.error(circle.map((file) => relative(ROOT, file)).join("\n  imports "));
if (circles.length > 0) {
  console.error(
    `${circles.length} import circles. Move the shared type to the file that both may import.`,
  );
  process.exit(1);
}
