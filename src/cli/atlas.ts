import { existsSync } from "node:fs";
import { writeFileAtomic } from "../base/files.ts";
import { suggest } from "../base/nearest.ts";
import { baseDifferences, claimsHash } from "../experiment/claim-settings.ts";
import type { ClaimResult } from "../experiment/claims/claim-results.ts";
import { type KeptResults, readKeptResults } from "../experiment/claims/kept-results.ts";
import { shippedBases } from "../run/settings/base-names.ts";
import { keptResultsFile, loadRecipe, shippedRecipes } from "../run/settings/recipe-file.ts";
import type { RecipeFile } from "../run/settings/recipe-schema.ts";
import { type AtlasSystem, atlasOverview, atlasTally } from "../view/documents/atlas-overview.ts";
import { atlasDocument } from "../view/documents/atlas.ts";
import { documentMarkdown } from "../view/markdown.ts";
import { claimWriting } from "./claim-output.ts";
import type { CliContext } from "./command.ts";
import { madeBy, writePage } from "./made-by.ts";
import { usage } from "./usage.ts";

interface AtlasFlags {
  family?: string;
  stored?: true;
  page?: string;
  json?: true;
}

/** Measures a recipe that has no kept results. */
type Measure = (name: string) => Promise<{ kept: KeptResults }>;

/**
 * Writes the atlas of all shipped systems as a page and as Markdown beside it. Kept results are shown as they are; other recipes with
 * claims are measured, unless `stored` is set.
 * @throws as `atlasSystems`.
 */
export async function writeAtlas(
  flags: AtlasFlags,
  measure: Measure,
  context: CliContext,
): Promise<void> {
  const page = flags.page ?? "runs/atlas.html";
  const text = `${page.replace(/\.html?$/, "")}.md`;
  claimWriting(page);
  claimWriting(text);
  const systems = await atlasSystems(flags.family, flags.stored === true ? null : measure);
  const document = atlasDocument(systems);
  await writePage(page, document);
  const { version, command } = madeBy();
  const origin = `Written by agentrl ${version}: \`${command}\``;
  await writeFileAtomic(text, `${documentMarkdown(document)}\n${origin}\n`);
  if (flags.json === true) context.out(JSON.stringify({ systems: systems.map(systemJson), page }));
  else context.out([atlasTally(systems), atlasOverview(systems)]);
  for (const file of [page, text]) context.note(`written to ${file}`);
}

/**
 * The shipped recipes of papers' systems by family, with what is known of their claims.
 *
 * @param family only those of it.
 * @param measure of recipes without kept results; null: they have none.
 * @throws {ConfigError} USAGE for a family that no recipe has.
 * @throws {DataError} when kept results cannot be read.
 */
export async function atlasSystems(
  family: string | undefined,
  measure: Measure | null,
): Promise<AtlasSystem[]> {
  const recipes = await Promise.all(shippedRecipes().map((name) => loadRecipe(name)));
  const bases = shippedBases();
  // A recipe with neither family nor claims is of no paper's system, and neither is one that makes a policy to start from.
  const all = recipes.filter(
    (each) => !bases.includes(each.name) && (each.family !== undefined || hasClaims(each)),
  );
  const families = [...new Set(all.map(familyOf))].sort();
  if (family !== undefined && !families.includes(family))
    throw usage(`--family is "${family}"; no recipe is of it. ${suggest(family, families)}`);
  const systems: AtlasSystem[] = [];
  for (const each of families.filter((name) => family === undefined || name === family)) {
    for (const recipe of all.filter((one) => familyOf(one) === each))
      systems.push(await systemOf(recipe, measure));
  }
  return systems;
}

function familyOf({ family = "other" }: RecipeFile): string {
  return family;
}

function hasClaims({ claims }: RecipeFile): boolean {
  return claims.tests.length > 0;
}

async function systemOf(recipe: RecipeFile, measure: Measure | null): Promise<AtlasSystem> {
  const { name, summary, claims } = recipe;
  const system = {
    name,
    summary,
    family: familyOf(recipe),
    claims: claims.tests.map(({ id }) => id),
  };
  const file = keptResultsFile(name);
  if (!existsSync(file)) {
    const measured = measure === null || !hasClaims(recipe) ? null : await measure(name);
    return { ...system, results: measured?.kept ?? null, isCurrent: true };
  }
  const kept = await readKeptResults(file);
  const { tier, claimsHash: then } = kept;
  if (then !== null)
    return { ...system, results: kept, isCurrent: then === claimsHash(recipe, tier) };
  return {
    ...system,
    results: { ...kept, base: await baseDifferences(recipe, tier) },
    isCurrent: null,
  };
}

function systemJson({ name, family, claims, results, isCurrent }: AtlasSystem): object {
  if (results === null)
    return { name, family, claims: claims.map((id) => ({ id, verdict: null })) };
  const measured = results.claims.map((claim) => ({ ...claim, power: detectableOf(claim) }));
  return { name, family, claims: measured, isCurrent, base: results.base, runs: results.runs };
}

/** The difference that a claim's runs would have found in every comparison; null where it is not known. */
function detectableOf({ comparisons }: ClaimResult): number | null {
  const known = comparisons.flatMap(({ detectable }) => detectable ?? []);
  return known.length === 0 ? null : Math.max(...known);
}
