import { join, resolve } from "node:path";
import { writeAtomic } from "../../base/files.ts";
import { claimOutput } from "../claim-output.ts";
import type { CliContext } from "../command.ts";
import { madeBy } from "../made-by.ts";
import { usage } from "../usage.ts";

export interface RunReportFlags {
  out?: string;
  trajectories?: number;
  overwrite?: true;
  json?: true;
}

/** Most trajectories of a step in the page. */
const PER_STEP = 4;

/** Most characters of all trajectories in the page, as on disk; compressed in the page they take an eighth. */
const CHARACTERS = 48e6;

/** Runs as one page. */
export async function reportRuns(
  folders: readonly string[],
  { out, trajectories = PER_STEP, overwrite, json }: RunReportFlags,
  context: CliContext,
): Promise<void> {
  const [only = ""] = folders;
  const twice = folders.find(
    (folder, i) => folders.map((each) => resolve(each)).indexOf(resolve(folder)) < i,
  );
  if (twice !== undefined) throw usage(`${twice}: is named twice. Name each run once.`);
  if (out === undefined && folders.length > 1)
    throw usage(
      `${folders.length} runs are named, and no file to write. Name it by --out report.html; of one run alone it lies in the run's folder.`,
    );
  const path = out ?? join(only, "report.html");
  claimOutput(path, overwrite === true || out === undefined);
  const { readRun } = await import("../../view/runs/run-files.ts");
  const { runsDocument } = await import("../../view/documents/runs.ts");
  const { documentPage } = await import("../../view/html/page.ts");
  const { openRunReader } = await import("../run-reading.ts");
  const { loadSchemas } = await import("../../base/part-schema.ts");
  const { effectOf } = await import("../../run/settings/settings-schema.ts");
  const runs = [];
  for (const folder of folders) runs.push(await readRun(folder));
  for (const trouble of runs.flatMap((run) => [run, ...run.stages]).flatMap((run) => run.troubles))
    context.note(`not read: ${trouble}`);
  const all = runs.flatMap((run) => [run, ...run.stages]);
  await loadSchemas(all.flatMap(({ settings }) => [...(settings?.values.values() ?? [])]));
  const { readingOf } = openRunReader(context.note);
  const document = await runsDocument(runs, {
    readingOf,
    effectOf,
    trajectories: { perStep: trajectories, characters: CHARACTERS },
  });
  await writeAtomic(path, async (write) => {
    for await (const piece of documentPage(document, madeBy())) {
      context.signal.throwIfAborted();
      await write(piece);
    }
  });
  context.out(json === true ? JSON.stringify({ out: path }) : path);
}
