import { join } from "node:path";
import { writeFileAtomic, writeJson } from "../base/files.ts";
import type { ReproducedRun, Reproduction } from "../experiment/claims/claim-results.ts";
import type { KeptResults } from "../experiment/claims/kept-results.ts";
import type { ViewerItem } from "../view/viewer/embed.ts";
import type { RunFiles } from "../view/runs/run-files.ts";
import { documentMarkdown } from "../view/markdown.ts";
import { madeBy, writePage } from "./made-by.ts";
import { openRunReader } from "./run-reading.ts";

/** A run with what its folder holds; null: it has none. */
type ReadRun = ReproducedRun & { files: RunFiles | null };

/**
 * Writes results.json, report.html and report.md; the same command writes them anew.
 * @param folderOf a run's folder.
 * @param to.before kept results whose runs may have been taken over.
 * @returns what results.json holds.
 * @throws {DataError} FILE_MISSING when the package was not built.
 */
export async function writeReproductionFiles(
  result: Reproduction,
  folderOf: (run: ReproducedRun) => string,
  { out, before }: { out: string; before: KeptResults | null },
): Promise<KeptResults> {
  const { isRunFolder, readRun } = await import("../view/runs/run-files.ts");
  const { keptRun, keptSamples } = await import("../view/runs/kept-run.ts");
  const { reproductionDocument } = await import("../view/documents/reproduction.ts");
  const runs: ReadRun[] = await Promise.all(
    result.runs.map(async (run) => {
      const folder = folderOf(run);
      return { ...run, files: isRunFolder(folder) ? await readRun(folder) : null };
    }),
  );
  const { readingOf } = openRunReader(() => undefined);
  const earlier = new Map((before?.runs ?? []).map((run) => [run.key, run]));
  const samples = await keptSamples(runs, result, readingOf);
  const armOf = ({ entry }: ViewerItem): unknown => entry.facets[0];
  const shown = new Set(samples.map(armOf));
  const kept: KeptResults = {
    ...result,
    format: 2,
    procedure: 2,
    // A run that an earlier call made has no folder here: its curves are kept with its numbers.
    runs: runs.map((run) => {
      const kept = earlier.get(run.key);
      if (run.files === null && kept !== undefined) return { ...kept, arms: run.arms };
      return keptRun(run, run.files, result.claims);
    }),
    samples: [
      ...((before?.procedure === 2 ? before.samples : []) as ViewerItem[]).filter(
        (item) => !shown.has(armOf(item)),
      ),
      ...samples,
    ],
  };
  await writeJson(join(out, "results.json"), kept);
  const document = await reproductionDocument(result, trainedArms(runs));
  await writePage(join(out, "report.html"), document);
  const { date, version, command } = madeBy();
  const origin = `${date}, agentrl ${version}: \`${command}\``;
  await writeFileAtomic(join(out, "report.md"), `${documentMarkdown(document)}\n${origin}\n`);
  return kept;
}

/** Runs with steps, by arm: what was not trained has no curve. */
function trainedArms(runs: readonly ReadRun[]) {
  const members = new Map<string, RunFiles[]>();
  for (const { arms, files } of runs) {
    if (files === null) continue;
    const name = shortName(arms, runs);
    members.set(name, [...(members.get(name) ?? []), files]);
  }
  return [...members]
    .map(([name, own]) => ({ name, runs: own }))
    .filter(({ runs: own }) =>
      own.some((run) => [run, ...run.stages].some(({ metrics }) => metrics.length > 0)),
    )
    .map((arm, series) => ({ ...arm, series }));
}

/** An arm's name, with its claim where other settings have the same name. */
function shortName([full = ""]: readonly string[], runs: readonly ReproducedRun[]): string {
  const name = full.split("/")[1] ?? full;
  const isShared = runs.some(
    ({ arms }) => !arms.includes(full) && arms.some((other) => other.endsWith(`/${name}`)),
  );
  return isShared ? full : name;
}
