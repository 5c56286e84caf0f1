import { existsSync } from "node:fs";
import { ConfigError } from "../base/errors.ts";
import { writeAtomic, writeFileAtomic } from "../base/files.ts";
import { suggest } from "../base/nearest.ts";
import { renderMarkdown, renderText, type Table } from "../base/table.ts";
import type { ClaimResult } from "../evaluate/claims/claim-results.ts";
import { type KeptResults, readKeptResults } from "../evaluate/claims/kept-results.ts";
import { keptResultsFile, loadRecipe, shippedRecipes } from "../recipe/settings/recipe-file.ts";
import type { AtlasSystem } from "../report/html/atlas-page.ts";
import type { CliContext } from "./command.ts";
import { madeBy } from "./made-by.ts";
import { reproductionText } from "./reproduction-text.ts";

interface AtlasFlags {
  family?: string;
  stored?: true;
  page?: string;
  json?: true;
}

/** Measures a recipe that has no kept results. */
type Measure = (name: string) => Promise<{ kept: KeptResults }>;

/**
 * Writes the atlas of all shipped recipes with claims as a page and as Markdown beside it. Kept results are shown as they are; other
 * recipes are measured, unless `stored` is set.
 * @throws {ConfigError} USAGE for a family that no recipe has.
 * @throws {DataError} when kept results cannot be read.
 */
export async function writeAtlas(
  flags: AtlasFlags,
  measure: Measure,
  context: CliContext,
): Promise<void> {
  const { atlasPage } = await import("../report/html/atlas-page.ts");
  const systems = await collect(flags, measure);
  const page = flags.page ?? "runs/atlas.html";
  const text = `${page.replace(/\.html?$/, "")}.md`;
  await writeAtomic(page, async (write) => {
    for await (const piece of atlasPage(systems, madeBy())) await write(piece);
  });
  await writeFileAtomic(text, atlasMarkdown(systems));
  if (flags.json === true) context.out(JSON.stringify({ systems: systems.map(systemJson), page }));
  else context.out(renderText(overview(systems)));
  for (const file of [page, text]) context.note(`written to ${file}`);
}

async function collect(flags: AtlasFlags, measure: Measure): Promise<AtlasSystem[]> {
  const recipes = await Promise.all(shippedRecipes().map((name) => loadRecipe(name)));
  const all = recipes
    .filter(({ claims }) => claims.tests.length > 0)
    .map(({ name, summary, family = "other", claims }) => ({
      ...{ name, summary, family },
      claims: claims.tests.map(({ id }) => id),
    }));
  const families = [...new Set(all.map(({ family }) => family))].sort();
  const { family: wanted } = flags;
  if (wanted !== undefined && !families.includes(wanted)) {
    throw new ConfigError(
      "USAGE",
      `--family is "${wanted}"; no recipe with claims is of it. ${suggest(wanted, families)}`,
    );
  }
  const systems: AtlasSystem[] = [];
  for (const system of all.filter(({ family }) => wanted === undefined || family === wanted)) {
    const file = keptResultsFile(system.name);
    const isKept = existsSync(file);
    const measured = isKept || flags.stored === true ? null : (await measure(system.name)).kept;
    systems.push({ ...system, results: isKept ? await readKeptResults(file) : measured });
  }
  return systems;
}

function overview(systems: readonly AtlasSystem[]): Table {
  return {
    columns: ["system", "family", "claim", "verdict", "measured"],
    rows: systems.flatMap(({ name, family, claims, results }) =>
      results === null
        ? claims.map((claim) => [name, family, claim, "not measured", ""])
        : results.claims.map(({ id, verdict }) => [
            ...[name, family, id, verdict],
            results.runs
              .map(({ origin }) => origin.date)
              .sort()
              .at(-1) ?? "",
          ]),
    ),
  };
}

/** The atlas as Markdown: the list of claims, then each measured system with its tables and origin. */
function atlasMarkdown(systems: readonly AtlasSystem[]): string {
  const parts = systems.flatMap(({ results, summary }) =>
    results === null ? [] : [systemMarkdown(results, summary)],
  );
  const { version, command } = madeBy();
  const origin = `Written by agentrl ${version}: \`${command}\``;
  return `${["# Atlas of systems", renderMarkdown(overview(systems)), ...parts, origin].join("\n\n")}\n`;
}

function systemMarkdown(results: KeptResults, summary: string): string {
  const [heading = "", ...rest] = reproductionText(results, "md")
    .replaceAll(/^#+ /gm, "#$&")
    .split("\n\n");
  const commands = new Set(
    results.runs.map(
      ({ origin }) => `- ${origin.date}, agentrl ${origin.version}: \`${origin.command}\``,
    ),
  );
  return [
    ...[heading, summary, ...rest],
    ...(results.notes.length === 0
      ? []
      : ["What the miniature changes:", results.notes.map((each) => `- ${each}`).join("\n")]),
    ...["Measured by:", [...commands].join("\n")],
  ].join("\n\n");
}

function systemJson({ name, family, claims, results }: AtlasSystem): object {
  if (results === null)
    return { name, family, claims: claims.map((id) => ({ id, verdict: null })) };
  const measured = results.claims.map((claim) => ({ ...claim, power: detectableOf(claim) }));
  return { name, family, claims: measured, runs: results.runs };
}

/** The difference that a claim's runs would have found in every comparison; null where it is not known. */
function detectableOf({ comparisons }: ClaimResult): number | null {
  const known = comparisons.flatMap(({ detectable }) => detectable ?? []);
  return known.length === 0 ? null : Math.max(...known);
}
