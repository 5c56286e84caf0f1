// The pages docs/recipes/NAME.md, one for each shipped recipe of a paper: what it shows, how to run it, what to change first.
import { atlasSystems } from "../dist/cli/atlas.js";
import { loadRecipe, tiersOf } from "../dist/run/settings/recipe-file.js";

/** Settings shown at most as a first change. */
const CHANGES = 6;
/** Longest change that a line shows, in characters. */
const LONGEST = 160;

/** Pages by name of file. */
export async function recipePages() {
  const systems = await atlasSystems(undefined, null);
  const pages = {};
  for (const { name, results } of systems) {
    const recipe = await loadRecipe(name);
    if (recipe.paper !== undefined) pages[`${name}.md`] = pageOf(recipe, results);
  }
  return pages;
}

function pageOf(recipe, results) {
  const { name, summary, paper, notes = [] } = recipe;
  return (
    [
      `<!-- Generated from recipes/${name}.yaml by \`npm run generate\`. -->`,
      `# ${name}`,
      summary,
      `Paper: ${paper.title}, ${paper.id} (${paper.year})${paper.code === undefined ? "" : `; code: ${paper.code}`}.`,
      "## What it shows",
      claimsText(recipe, results),
      "## How to run it",
      commandsText(recipe),
      "## What to change first",
      changesText(recipe),
      ...(notes.length === 0
        ? []
        : [
            "## What is the same, and what is not",
            notes.map((note) => `- ${oneLine(note)}`).join("\n"),
          ]),
    ].join("\n\n") + "\n"
  );
}

function claimsText({ claims }, results) {
  if (claims === undefined) return "It has no claims of its own.";
  const verdicts = new Map(results?.claims.map(({ id, verdict }) => [id, verdict]));
  const rows = claims.tests.map(
    ({ id, statement, role }) =>
      `| ${oneLine(statement)}${role === "positive-control" ? " (control: the miniature could have seen an effect)" : ""} | ${verdicts.get(id) ?? "not measured yet"} |`,
  );
  const measured =
    results === null
      ? ""
      : `\n\nNumbers, intervals and settings: [atlas](../atlas.md), \`recipes/results/\`.`;
  return ["| claim | verdict in the miniature |", "| :-- | :-- |", ...rows].join("\n") + measured;
}

function commandsText(recipe) {
  const { name } = recipe;
  const tiers = tiersOf(recipe);
  const lines = [
    [
      `agentrl train --recipe ${name}`,
      "the miniature, in minutes on a laptop",
      tiers.includes("mini"),
    ],
    [
      `agentrl train --recipe ${name} --tier smoke`,
      "seconds: whether everything runs",
      tiers.includes("smoke"),
    ],
    [
      `agentrl reproduce ${name}`,
      "all arms of its claims, with verdicts",
      recipe.claims !== undefined,
    ],
    [
      `agentrl recipes plan ${name} --tier paper`,
      "the published settings, and what they need",
      tiers.includes("paper"),
    ],
  ].filter(([, , has]) => has);
  const width = Math.max(...lines.map(([command]) => command.length));
  return [
    "```",
    ...lines.map(([command, what]) => `npx ${command.padEnd(width)}   # ${what}`),
    "```",
  ].join("\n");
}

/** The settings that the arms of the claims vary: the paper's own ablations, those that fit a line. */
function changesText({ name, claims }) {
  const sets = (claims?.tests ?? []).flatMap(({ arms }) => arms.map(({ set = {} }) => set));
  // An arm without a stage only evaluates.
  const trained = sets.filter(({ stages }) => stages === undefined || stages.length > 0);
  const lines = trained.map((set) =>
    Object.entries(set)
      .filter(([key]) => !key.startsWith("evaluation"))
      .map(([key, value]) => `--set '${key}=${flowText(value)}'`)
      .join(" "),
  );
  const changes = [...new Set(lines)].filter((line) => line !== "" && line.length <= LONGEST);
  if (changes.length === 0)
    return `\`agentrl recipes show ${name}\` prints every setting with its origin; \`--set KEY=VALUE\` changes one.`;
  return [
    "These are settings that its claims compare with the recipe's own:",
    [
      "```",
      ...changes.slice(0, CHANGES).map((line) => `npx agentrl train --recipe ${name} ${line}`),
      "```",
    ].join("\n"),
  ].join("\n\n");
}

/** A value as `--set` takes it. */
function flowText(value) {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function oneLine(text) {
  return text.replaceAll(/\s+/g, " ").trim().replaceAll("|", "\\|");
}
