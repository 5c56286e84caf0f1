import { existsSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { type CliCommand, type CliContext, defineCommand } from "../command.ts";
import { acrossFlag } from "../eval-compare-flags.ts";
import {
  type Flags,
  jsonFlag,
  options,
  outFlag,
  overwriteFlag,
  refuseStray,
  wholeNumber,
} from "../options.ts";
import { usage } from "../usage.ts";
import { RESULT_FORMATS, writeReport } from "./eval-report.ts";
import { reportRuns } from "./runs-report.ts";
import { reportSynthesis } from "./synth-data/report.ts";

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
    args: [["<places...>", "folders of runs, of `agentrl eval --out`, or of one synthesis"]],
    options: OPTIONS,
    run(flags, context, places) {
      const kinds = new Set(earlier === undefined ? places.map(kindOf) : [earlier]);
      return report(places, { flags, kinds }, context);
    },
  });
}

type Kind = "evaluation" | "synthesis" | "run";

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
