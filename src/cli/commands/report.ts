import { existsSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { type Command, Option } from "commander";
import { ConfigError } from "../../base/errors.ts";
import type { CliCommand, CliContext } from "../command.ts";
import { acrossOption } from "../eval-compare-flags.ts";
import { jsonOption, outOption, overwriteOption, wholeNumber } from "../options.ts";
import { refuseStray } from "../stray-flags.ts";
import { RESULT_FORMATS, type ResultReportFlags, writeReport } from "./eval-report.ts";
import { reportRuns, type RunReportFlags } from "./runs-report.ts";
import { reportSynthesis, type SynthesisReportFlags } from "./synth-data/report.ts";

type ReportFlags = ResultReportFlags & RunReportFlags & SynthesisReportFlags;

/** `agentrl report`: runs, evaluations and syntheses as pages or files. */
export const reportCommand: CliCommand = { name: "report", register: addReport };

/** Adds `report` to the program; or under its earlier name to `eval`, `runs` or `synth-data`, where no list shows it. */
export function addReport(parent: Command, context: CliContext): void {
  parent
    .command("report", { hidden: parent.parent !== null })
    .summary("runs, evaluations and syntheses as a page or file")
    .description(
      "Show runs, evaluations or a synthesis as one self-contained page (HTML). Runs: curves with a band over seeds, final figures with paired " +
        "differences, settings that differ, events and trajectories. Evaluations: scores, search behaviour and every trajectory; " +
        "results of different protocols are separated and marked. A synthesis: what each step let through and why, and every sample.",
    )
    .argument("<places...>", "folders of runs, of `agentrl eval --out`, or of one synthesis")
    .addOption(
      outOption(
        "file to write (default: report.html in the folder of a run or synthesis; stdout for evaluations; a folder for lm-eval)",
      ),
    )
    .addOption(overwriteOption())
    .addOption(
      new Option(
        "--format <format>",
        "evaluations: html, md (a table), csv or jsonl (a line per draw), json, lm-eval (a folder as lm-evaluation-harness writes it); default: the ending of --out, else md",
      ).choices(RESULT_FORMATS),
    )
    .addOption(acrossOption("evaluations: others separate the results (html, md)"))
    .option(
      "--dataset <name>",
      "evaluations: dataset of the questions, to mark gold passages (default: the dataset that the results name)",
    )
    .option(
      "--tokenizer <folder>",
      "evaluations, syntheses: folder with the tokenizer.json of the policy or teacher, which decodes its tokens (default: its own folder)",
    )
    .option(
      "--trajectories <n>",
      "runs: largest number of trajectories of each step in the page (default: 4; 0: none)",
      wholeNumber(0),
    )
    .addOption(
      jsonOption(
        "what was written as one JSON document: .out; evaluations without --out: the results",
      ),
    )
    .action((places: string[], flags: ReportFlags) => {
      const kinds = [EARLIER[parent.name()]].flatMap((kind) => kind ?? places.map(kindOf));
      return report(places, { flags, kinds: new Set(kinds) }, context);
    });
}

type Kind = "evaluation" | "synthesis" | "run";

/** The families that had a report of their own. */
const EARLIER: Readonly<Record<string, Kind>> = {
  eval: "evaluation",
  "synth-data": "synthesis",
  runs: "run",
};

async function report(
  places: string[],
  { flags, kinds }: { flags: ReportFlags; kinds: ReadonlySet<Kind> },
  context: CliContext,
): Promise<void> {
  if (kinds.size > 1) {
    throw new ConfigError(
      "USAGE",
      `${places.join(", ")}: are of several kinds (${[...kinds].join(", ")}). Name folders of one kind.`,
    );
  }
  const [first = ""] = places;
  if (kinds.has("evaluation")) {
    refuseStray(flags, ["trajectories"], "runs");
    await writeReport(places, flags, context);
  } else if (kinds.has("synthesis")) {
    refuseStray(flags, ["format", "across", "dataset", "trajectories"], "evaluations or runs");
    if (places.length > 1)
      throw new ConfigError("USAGE", `${places.join(", ")}: a page shows one synthesis.`);
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
