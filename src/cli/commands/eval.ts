import { join } from "node:path";
import { type Command, Option } from "commander";
import { measureNames, measuresOf } from "../../evaluate/measures.ts";
import { metricNames } from "../../evaluate/evaluation-summary.ts";
import type { EvalOutcome } from "../../run/run-eval.ts";
import type { Settings } from "../../run/settings/settings-schema.ts";
import type { ResolvedSettings } from "../../run/settings/settings.ts";
import type { TextFormat } from "../../view/report-formats.ts";
import type { CliContext } from "../command.ts";
import { answerWarnings } from "../answer-warnings.ts";
import { requireUncut } from "../cut-text.ts";
import { evaluateMatrix, matrixCells } from "../eval-matrix.ts";
import { addMeasuringOptions, loadAnsweringHelp, measuringSettings } from "../eval-flags.ts";
import { evaluationBlocks, timingsText } from "../../view/documents/scores.ts";
import { jsonOption, outOption, wholeNumber } from "../options.ts";
import { parseRequirement, requireScores } from "../require-scores.ts";
import {
  type EvalFlags,
  formatOf,
  requireComplete,
  runEvaluation,
  withRowsFolder,
} from "../run-evaluation.ts";
import { refuseStray } from "../stray-flags.ts";
import { writeReport } from "./eval-report.ts";

/** Adds `agentrl eval policy`, which is also `agentrl eval`. */
export async function addEvalPolicy(family: Command, context: CliContext): Promise<void> {
  await loadAnsweringHelp(context);
  const policy = family
    .command("policy", { isDefault: true })
    .summary("measure a policy on questions (the default: `agentrl eval --policy …`)")
    .description(
      "Measure a policy on questions: em, f1, cover_em, searches, by hops and question type. Environment and " +
        "budgets come from a recipe; flags win over it. Comma-separated lists in --policy, --model and --dataset measure every " +
        "policy on every dataset and show one table with the averages.",
    );
  addMeasuringOptions(policy);
  for (const option of policy.options.filter(({ long }) => LISTS.includes(long ?? "")))
    option.description += "; several: comma-separated";
  addOutputOptions(policy);
  policy.action((flags: EvalFlags) => evaluate(flags, context));
}

/** Options that take several names. */
const LISTS: readonly string[] = ["--policy", "--model", "--dataset"];

/** Named here as well: pages are slow to load, and not for --help. */
const FORMATS: readonly TextFormat[] = ["json", "jsonl", "csv", "md", "html"];

function addOutputOptions(command: Command): void {
  command
    .addOption(outOption("folder for rows.jsonl, trajectories.jsonl and results.json"))
    .option("--resume", "resume: keep the rows in --out and measure the rest")
    .option(
      "--require <condition>",
      'fail with status 5 unless it holds, e.g. "em>=0.5"; repeatable',
      (text: string, before: string[] | undefined) => [...(before ?? []), text],
    )
    .option(
      "--allow-errors <n>",
      "exit with status 0 if at most n rollouts failed (default: 0); failed rollouts are not measured",
      wholeNumber(0),
    )
    .addOption(
      new Option(
        "--format <format>",
        "format of stdout: json (as --json), jsonl or csv (a line per draw), md, html (a page with every trajectory); default: a table",
      ).choices(FORMATS),
    )
    .addOption(jsonOption());
}

async function evaluate(flags: EvalFlags, context: CliContext): Promise<void> {
  if (flags.out === undefined) refuseStray(flags, ["resume"], "--out, whose rows it continues");
  const cells = matrixCells(flags);
  if (cells.length > 1) {
    await evaluateMatrix(cells, flags, context);
    return;
  }
  await evaluateResolved(await measuringSettings(flags, context), flags, context);
}

/** An evaluation with settings that are known, and what is said of it. */
export async function evaluateResolved(
  resolved: ResolvedSettings<Settings>,
  flags: EvalFlags,
  context: CliContext,
): Promise<void> {
  const { samplesPerTask, sampling } = resolved.settings.evaluation;
  const own = measureNames(measuresOf(resolved.settings));
  const names = [...metricNames(samplesPerTask), ...own];
  const requirements = (flags.require ?? []).map((text) => parseRequirement(text, names));
  if (samplesPerTask > 1 && sampling.temperature === 0) {
    context.note(
      `All ${samplesPerTask} draws of a question are alike at temperature 0: set --temperature.`,
    );
  }
  const { out } = flags;
  const format = formatOf(flags);
  const outcome = await withRowsFolder(flags, async (folder) => {
    const measured = await runEvaluation(resolved, flags, folder, context);
    if (format === undefined) context.out(evaluationBlocks(measured.result));
    else if (format === "json") context.out(asJson(measured, out));
    else if (folder !== undefined) await writeReport([folder], { format }, context);
    return measured;
  });
  const { result, timings, requests } = outcome;
  const { errors, metrics } = result;
  context.note(timingsText(timings, requests));
  if (out !== undefined) context.note(`written to ${join(out, "results.json")}`);
  for (const warning of answerWarnings(outcome, resolved.settings)) context.note(warning);
  requireUncut(result, resolved.settings);
  requireComplete(errors, flags);
  requireScores(requirements, metrics);
}

function asJson({ result, timings, requests }: EvalOutcome, out: string | undefined): string {
  const asked = requests === undefined ? {} : { requests };
  return JSON.stringify({ ...result, timings, ...asked, out });
}
