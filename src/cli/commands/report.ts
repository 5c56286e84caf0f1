import { existsSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { evaluationsIn } from "../../evaluate/evaluation-folders.ts";
import { MANIFEST_FILE } from "../../run/folder/run-file.ts";
import { claimOutput, refuseOwnInput } from "../claim-output.ts";
import { type CliCommand, type CliContext, defineCommand } from "../command.ts";
import { acrossFlag } from "../eval-compare-flags.ts";
import { writePage } from "../made-by.ts";
import {
  type Flags,
  jsonFlag,
  options,
  outFlag,
  overwriteFlag,
  refuseStray,
  wholeNumber,
} from "../options.ts";
import { findOrigin } from "../trace/trace-origin.ts";
import { findWords } from "../trace/trace-texts.ts";
import { usage } from "../usage.ts";
import { RESULT_FORMATS, writeReport } from "./eval-report.ts";

const OPTIONS = options({
  out: outFlag(
    "file to write (default: report.html in the folder of a run or synthesis; stdout for evaluations; a folder for lm-eval)",
  ),
  overwrite: overwriteFlag(),
  format: [
    "<format>",
    "evaluations: html, md (a table), csv or jsonl (a line per draw), json, lm-eval (a folder as lm-evaluation-harness writes it); default: the ending of --out, else md",
    RESULT_FORMATS,
  ],
  across: acrossFlag("evaluations: others separate the results (html, md)"),
  dataset: [
    "<name>",
    "evaluations: dataset of the questions, to mark gold passages (default: the dataset that the results name)",
  ],
  tokenizer: [
    "<folder>",
    "evaluations, syntheses: folder with the tokenizer.json of the policy or teacher, which decodes its tokens (default: its own folder)",
  ],
  trajectories: [
    "<n>",
    "runs: largest number of trajectories of each step in the page (default: 4; 0: none)",
    wholeNumber(0),
  ],
  json: jsonFlag(
    "what was written as one JSON document: .out; evaluations without --out: the results",
  ),
});

type ReportFlags = Flags<typeof OPTIONS>;

/** `agentrl report`: runs, evaluations and syntheses as pages or files. */
export const reportCommand = makeReportCommand();

/** `report`, also under its earlier name in the families that had a report of their own, where no list shows it. */
export function makeReportCommand(earlier?: Kind): CliCommand {
  return defineCommand({
    name: "report",
    hidden: earlier !== undefined,
    summary: "runs, evaluations and syntheses as a page or file",
    description:
      "Show runs, evaluations or a synthesis as one self-contained page (HTML). Runs: curves with a band over seeds, final figures with paired " +
      "differences, settings that differ, events and trajectories. Evaluations: scores, search behaviour and every trajectory; " +
      "results of different protocols are separated and marked. A synthesis: what each step let through and why, and every sample.",
    args: [
      [
        "<places...>",
        "folders of runs, of `agentrl eval --out` (also one that holds several evaluations), or of one synthesis",
      ],
    ],
    options: OPTIONS,
    run(flags, context, given) {
      const places = given.flatMap(evaluationsOf);
      const kinds = new Set(earlier === undefined ? places.map(kindOf) : [earlier]);
      return report(places, { flags, kinds }, context);
    },
  });
}

type Kind = "evaluation" | "synthesis" | "run";

/** The evaluations in a folder that is no run itself, as `agentrl eval --out` of several datasets leaves it; else the place. */
function evaluationsOf(place: string): string[] {
  if (existsSync(join(place, MANIFEST_FILE))) return [place];
  const { finished } = evaluationsIn(place);
  return finished.length === 0 ? [place] : finished;
}

async function report(
  places: string[],
  { flags, kinds }: { flags: ReportFlags; kinds: ReadonlySet<Kind> },
  context: CliContext,
): Promise<void> {
  if (kinds.size > 1)
    throw usage(
      `${places.join(", ")}: are of several kinds (${[...kinds].join(", ")}). Name folders of one kind.`,
    );
  const [first = ""] = places;
  if (kinds.has("evaluation")) {
    refuseStray(flags, ["trajectories"], "runs");
    await writeReport(places, flags, context);
  } else if (kinds.has("synthesis")) {
    refuseStray(flags, ["format", "across", "dataset", "trajectories"], "evaluations or runs");
    if (places.length > 1) throw usage(`${places.join(", ")}: a page shows one synthesis.`);
    await reportSynthesis(first, flags, context);
  } else {
    refuseStray(flags, ["format", "across", "dataset", "tokenizer"], "evaluations");
    await reportRuns(places, flags, context);
  }
}

/** What a place holds, by its files. A run has neither of the others' files. */
function kindOf(place: string): Kind {
  const isFile = existsSync(place) && statSync(place).isFile();
  const has = (name: string): boolean =>
    isFile ? basename(place) === name : existsSync(join(place, name));
  if (has("synth.json")) return "synthesis";
  const isEvaluation = ["results.json", "rows.jsonl"].some(has) || isFile;
  return isEvaluation ? "evaluation" : "run";
}

/** A synthesis as a page. */
async function reportSynthesis(
  folder: string,
  flags: ReportFlags,
  context: CliContext,
): Promise<void> {
  const { openSynthesis } = await import("../../view/synthesis-files.ts");
  const { synthesisDocument } = await import("../../view/documents/synthesis.ts");
  const files = await openSynthesis(folder);
  const { from } = files.synthesis.teacher;
  const origin = await findOrigin(join(files.folder, "draws.jsonl"));
  const named = flags.tokenizer ?? from ?? origin?.policy;
  const words = await findWords(named, flags.tokenizer !== undefined);
  const path = flags.out ?? join(files.folder, "report.html");
  refuseOwnInput(path, [files.folder], "--out");
  claimOutput(path, flags.overwrite === true || flags.out === undefined);
  const decode = words === null ? null : (ids: readonly number[]) => words.tokenizer.decode(ids);
  const document = await synthesisDocument(files, decode);
  await writePage(path, document, context.signal);
  context.out(flags.json === true ? JSON.stringify({ out: path }) : path);
}

/** Most trajectories of a step in the page. */
const PER_STEP = 4;

/** Most characters of all trajectories in the page, as on disk; compressed in the page they take an eighth. */
const CHARACTERS = 48e6;

/** Runs as one page. */
async function reportRuns(
  folders: readonly string[],
  { out, trajectories = PER_STEP, overwrite, json }: ReportFlags,
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
  const { openRunReader } = await import("../run-reading.ts");
  const { loadSchemas } = await import("../../base/define-part.ts");
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
  await writePage(path, document, context.signal);
  context.out(json === true ? JSON.stringify({ out: path }) : path);
}
