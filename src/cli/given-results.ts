import { join } from "node:path";
import { makeFolder } from "../base/files.ts";
import type { Reproduction } from "../experiment/claims/claim-results.ts";
import type { KeptResults } from "../experiment/claims/kept-results.ts";
import { readGivenFile } from "../experiment/given/given-file.ts";
import { reproduceGiven } from "../experiment/given/reproduce-given.ts";
import { loadRecipe } from "../run/settings/recipe-file.ts";
import { claimWriting } from "./claim-output.ts";
import type { CliContext } from "./command.ts";
import { madeBy } from "./made-by.ts";
import { readMeasuredSets } from "./measured-sets.ts";
import { writeReproductionFiles } from "./reproduction-files.ts";

/** A recipe's results, and the files that they were written to. */
export interface Measured {
  result: Reproduction;
  kept: KeptResults;
  out: string;
  files: string[];
}

/**
 * Judges a recipe's claims at tier paper on results that were trained elsewhere, and writes them like those of a reproduction.
 * @param from the file that lists them.
 */
export async function judgeGiven(
  name: string,
  { from, ...flags }: { from: string; out?: string | undefined; plugin?: string[] | undefined },
  context: CliContext,
): Promise<Measured> {
  const recipe = await loadRecipe(name, flags.plugin);
  const out = flags.out ?? join("runs", `reproduce-${recipe.name}-given`);
  const entries = await readGivenFile(from);
  claimWriting(out);
  const result = await reproduceGiven(recipe, "paper", {
    entries,
    readSets: (folders) => readMeasuredSets(folders, context),
    made: madeBy(),
  });
  await makeFolder(out);
  // Given runs have no folder of a training.
  const runFolder = ({ key }: { key: string }): string => join(out, "runs", key);
  const kept = await writeReproductionFiles(result, runFolder, { out, before: null });
  const files = ["results.json", "report.html", "report.md"].map((each) => join(out, each));
  return { result, kept, out, files };
}
