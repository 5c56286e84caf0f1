// docs/papers.md: one row for each shipped recipe, from the recipe itself and its kept results, and where the code names a paper.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { readKeptResults } from "../dist/experiment/claims/kept-results.js";
import { shippedBases } from "../dist/run/settings/base-names.js";
import { keptResultsFile, loadRecipe, shippedRecipes } from "../dist/run/settings/recipe-file.js";
import { oneLine, tableOf } from "./markdown.mjs";

const root = join(import.meta.dirname, "..");

export async function papersPage() {
  const bases = shippedBases();
  const names = shippedRecipes().filter((name) => !bases.includes(name));
  const systems = await Promise.all(names.map((name) => systemOf(name)));
  const heads = [
    "paper",
    "recipe",
    "claims: verdict",
    "tally",
    "ours",
    "the paper's",
    "what differs",
  ];
  const rows = [...systems]
    .sort((a, b) => orderOf(a).localeCompare(orderOf(b)))
    .map((system) => rowOf(system));
  return `<!-- Generated from recipes, recipes/results and src by \`npm run generate\`. -->
# Papers

${summary(systems)}

Every shipped recipe: papers first, by number, then instruments and own recipes. Figures of a claim stand behind its number; *ours* are those of the miniature, which has another model,
corpus and size: compare directions, not numbers. Intervals, seeds and the origin of each number: [atlas](atlas.md). How a verdict is made: [claims](claims.md).

\`\`\`
npx agentrl train NAME                     # the miniature, in minutes on a laptop; --tier smoke: seconds
npx agentrl reproduce NAME                 # all arms of its claims, with verdicts; --stored: the kept results
npx agentrl recipes show NAME              # every setting with its origin, the claims and their arms
npx agentrl recipes plan NAME --tier paper # the published settings, and what they need
\`\`\`

${tableOf(heads, rows)}
## Where the code names a paper

${tableOf(["paper", "named as", "files below src"], namedPapers(systems))}`;
}

async function systemOf(name) {
  const recipe = await loadRecipe(name);
  const file = keptResultsFile(name);
  const results = existsSync(file) ? await readKeptResults(file) : null;
  return { name, recipe, results };
}

/** How many papers and claims there are, and what became of the claims. */
function summary(systems) {
  const papers = systems.filter(({ recipe }) => recipe.paper !== undefined);
  const ids = new Set(papers.map(({ recipe }) => recipe.paper.id));
  const claims = papers.flatMap((system) => testsOf(system)).filter(({ role }) => role === "claim");
  return `${ids.size} papers in ${papers.length} recipes, ${claims.length} claims: ${tally(claims)}.`;
}

function testsOf({ recipe, results }) {
  const measured = new Map(results?.claims.map((claim) => [claim.id, claim]));
  return recipe.claims.tests.map((test, i) => ({
    ...test,
    number: i + 1,
    measured: measured.get(test.id),
  }));
}

/** Papers by number, then those without. */
function orderOf({ name, recipe: { paper } }) {
  return paper === undefined ? `z ${name}` : `a ${paper.id} ${name}`;
}

function rowOf(system) {
  const { name, recipe } = system;
  const { paper, notes, summary } = recipe;
  const tests = testsOf(system);
  return [
    paper === undefined ? `– ${oneLine(summary)}` : paperText(paper),
    `\`${name}\``,
    tests.map((test) => claimText(test)).join("<br>"),
    tally(tests),
    tests
      .map((test) => figures(test, (arm) => arm.mean))
      .filter(Boolean)
      .join("<br>"),
    tests
      .map((test) => figures(test, (arm) => arm.paper?.value))
      .filter(Boolean)
      .join("<br>"),
    notes.map((note) => oneLine(note)).join("<br>"),
  ];
}

function paperText({ title, id, year, code }) {
  const link = `[${id}](https://arxiv.org/abs/${id.replace("arXiv ", "")})`;
  const repository = code === undefined ? "" : `; code: ${code}`;
  return `${oneLine(title)}, ${id.startsWith("arXiv ") ? link : id} (${year})${repository}`;
}

function claimText({ number, statement, role, measured }) {
  const of = { "positive-control": " (control)", "equal-arms": " (equal arms)" }[role] ?? "";
  return `${number}. ${oneLine(statement)}${of} **${measured?.verdict ?? "not measured"}**`;
}

function tally(tests) {
  const counts = new Map();
  for (const { role, measured } of tests) {
    if (role !== "claim") continue;
    const verdict = measured?.verdict ?? "not measured";
    counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
  }
  return [...counts].map(([verdict, count]) => `${count} ${verdict}`).join(", ");
}

function figures({ number, measured }, of) {
  const values = (measured?.arms ?? [])
    .map((arm) => [arm.name, of(arm)])
    .filter(([, value]) => typeof value === "number");
  if (values.length === 0) return "";
  return `${number}. ${values.map(([name, value]) => `${name} ${figure(value)}`).join(", ")}`;
}

function figure(value) {
  return Math.abs(value) < 10 ? value.toFixed(3) : String(Math.round(value));
}

/** Paper, names and files by number, of all comments and texts in src. */
function namedPapers(systems) {
  const titles = new Map(
    systems.flatMap(({ recipe: { paper } }) =>
      paper === undefined
        ? []
        : [[paper.id.replace("arXiv ", ""), oneLine(paper.title.split(":")[0])]],
    ),
  );
  const papers = new Map();
  for (const path of filesBelow(join(root, "src"))) {
    for (const [, name = "", id] of readFileSync(path, "utf8").matchAll(
      /((?:[^;:.,()*"`\n]|et al\.|Dr\.|v\d\.\d)*),? \(?arXiv (\d{4}\.\d{5})/g,
    )) {
      const known = papers.get(id) ?? { names: new Map(), files: new Set() };
      papers.set(id, known);
      const word = name.trim();
      if (/^[A-Z\u0370-\u03ff]/.test(word)) known.names.set(word, (known.names.get(word) ?? 0) + 1);
      known.files.add(relative(join(root, "src"), path));
    }
  }
  return [...papers]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([id, { names, files }]) => [
      `arXiv ${id}`,
      [...names].sort(([, a], [, b]) => b - a)[0]?.[0] ?? titles.get(id) ?? "",
      [...files]
        .sort()
        .map((file) => `\`${file}\``)
        .join(", "),
    ]);
}

function filesBelow(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".ts"))
    .map((entry) => join(entry.parentPath, entry.name));
}
