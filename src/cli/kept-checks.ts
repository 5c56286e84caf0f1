import { existsSync } from "node:fs";
import { join } from "node:path";
import { formatScore } from "../base/format.ts";
import { packageVersion } from "../base/package-root.ts";
import { armQuestions } from "../experiment/arm-questions.ts";
import { armFolder } from "../experiment/arms/arm-runs.ts";
import { type KeptResults, readKeptResults } from "../experiment/claims/kept-results.ts";
import { codeHash } from "../experiment/code-hash.ts";
import { type SpotResult, spotCheck } from "../experiment/spot-check.ts";
import type { ReproduceOptions } from "../experiment/reproduce.ts";
import { keptResultsFile, loadRecipe, shippedRecipes } from "../run/settings/recipe-file.ts";
import type { Override } from "../run/settings/settings.ts";
import { type Block, note, table } from "../view/document.ts";
import type { CliContext } from "./command.ts";
import { watchDownload } from "./model-download.ts";

/** Kept results of the named recipe, or of all shipped ones that have any. */
async function keptOf(recipe: string | undefined): Promise<[name: string, kept: KeptResults][]> {
  const names = recipe === undefined ? shippedRecipes() : [recipe];
  const found: [string, KeptResults][] = [];
  for (const name of names) {
    const file = keptResultsFile(name);
    if (existsSync(file)) found.push([name, await readKeptResults(file)]);
  }
  return found;
}

/** `agentrl reproduce --stale`: which kept runs were made by other code than this. Runs nothing. */
export async function showStale(
  recipe: string | undefined,
  json: boolean,
  context: CliContext,
): Promise<void> {
  const code = await codeHash();
  const rows = (await keptOf(recipe)).map(([name, { procedure, runs }]) => ({
    recipe: name,
    runs: runs.length,
    stale: runs.filter(({ origin }) => origin.code !== code).length,
    procedure,
    commits: [...new Set(runs.flatMap(({ origin }) => origin.commit?.slice(0, 12) ?? []))],
  }));
  if (json) context.out(JSON.stringify({ code, recipes: rows }));
  else context.out(staleBlocks(code, rows));
}

function staleBlocks(
  code: string,
  rows: readonly {
    recipe: string;
    runs: number;
    stale: number;
    procedure: number;
    commits: string[];
  }[],
): Block[] {
  return [
    table(
      "Kept results",
      ["recipe", "runs", "of other code", "procedure", "commits"],
      rows.map((each) => [
        each.recipe,
        each.runs,
        each.stale,
        each.procedure === 1 ? "first" : "",
        each.commits.join(", "),
      ]),
    ),
    note(`The code that decides numbers has the hash ${code} here.`),
  ];
}

/** `agentrl reproduce --spot`: makes one arm of each recipe's kept results again. */
export async function showSpots(
  recipe: string | undefined,
  { json, out }: { json: boolean; out: string },
  run: ReproduceOptions["run"],
  overrides: readonly Override[],
  context: CliContext,
): Promise<void> {
  const results: SpotResult[] = [];
  const download = watchDownload(context);
  try {
    for (const [name, kept] of await keptOf(recipe)) {
      if (kept.procedure === 1) continue;
      context.note(`${name}: one arm again`);
      const folder = join(out, name);
      const found = await spotCheck(await loadRecipe(name), kept, {
        out: folder,
        version: packageVersion(),
        overrides,
        signal: context.signal,
        download: download.options,
        run,
        questionsOf: (each, metric) => armQuestions(armFolder(folder, each), metric),
      });
      results.push(...found);
    }
  } finally {
    download.stop();
  }
  if (json) {
    context.out(JSON.stringify({ spots: results }));
    return;
  }
  const answers = (same: boolean | null): string =>
    same === null ? "" : same ? "the same" : "others";
  context.out([
    table(
      "Runs made again",
      [
        ...["recipe", "arm", "seed", "metric"],
        ...["kept", "again", "noise"].map((label) => ({ label, format: formatScore })),
        ...["answers", "within the noise"],
      ],
      results.map((each) => [
        ...[each.recipe, each.arm, each.seed, each.metric],
        ...[each.kept, each.again, each.noise],
        ...[answers(each.sameAnswers), each.isWithin ? "yes" : "no"],
      ]),
    ),
  ]);
}
