import { join } from "node:path";
import { writeAtomic, writeFileAtomic } from "../base/files.ts";
import type { Reproduction } from "../evaluate/claims/claim-results.ts";
import { madeBy } from "./made-by.ts";
import { reproductionText } from "./reproduction-text.ts";

/** A run of a reproduction and the arms that it is, as `claim/arm`. */
export interface ReproducedRun {
  arms: readonly string[];
  folder: string;
}

/**
 * Writes report.html and report.md beside the results; the same command writes them anew.
 * @returns their paths.
 * @throws {DataError} FILE_MISSING when the package was not built.
 */
export async function writeReproductionFiles(
  result: Reproduction,
  runs: readonly ReproducedRun[],
  out: string,
): Promise<string[]> {
  const { reproductionPage } = await import("../report/html/reproduction-page.ts");
  const [page, text] = [join(out, "report.html"), join(out, "report.md")];
  const arms = await trainedArms(runs);
  await writeAtomic(page, async (write) => {
    for await (const piece of reproductionPage(result, { arms, made: madeBy() }))
      await write(piece);
  });
  const { date, version, command } = madeBy();
  const origin = `${date}, agentrl ${version}: \`${command}\``;
  await writeFileAtomic(text, `${reproductionText(result, "md")}\n\n${origin}\n`);
  return [page, text];
}

/** Runs with steps, by arm: what was not trained has no curve. */
async function trainedArms(runs: readonly ReproducedRun[]) {
  const { isRunFolder, readRun } = await import("../report/runs/run-files.ts");
  const members = new Map<string, string[]>();
  for (const { arms, folder } of runs.filter((run) => isRunFolder(run.folder))) {
    const name = shortName(arms, runs);
    members.set(name, [...(members.get(name) ?? []), folder]);
  }
  const read = await Promise.all(
    [...members].map(async ([name, folders]) => ({
      name,
      runs: await Promise.all(folders.map((folder) => readRun(folder))),
    })),
  );
  return read
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
