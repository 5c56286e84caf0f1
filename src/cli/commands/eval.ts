import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Command, Option } from "commander";
import { ConfigError, ScoreError } from "../../base/errors.ts";
import { type EvaluationErrors, metricNames } from "../../evaluate/evaluation-summary.ts";
import { MATRIX_METRICS, matrixOf } from "../../recipe/eval-matrix.ts";
import type { EvalOutcome, EvalResult } from "../../recipe/run-eval.ts";
import type { ResolvedSettings } from "../../recipe/settings/settings.ts";
import type { Settings } from "../../recipe/settings/settings-schema.ts";
import type { TextFormat } from "../../report/report-formats.ts";
import type { CliCommand, CliContext } from "../command.ts";
import { cutWarnings, requireUncut } from "../cut-text.ts";
import { type MatrixCell, matrixCells, matrixMarkdown, matrixText } from "../eval-matrix.ts";
import { addMeasuringOptions, type MeasuringFlags, measuringSettings } from "../eval-flags.ts";
import { evaluationText, timingsText } from "../evaluation-text.ts";
import { watchDownload } from "../model-download.ts";
import { jsonOption, outOption, wholeNumber } from "../options.ts";
import { type Progress, startProgress } from "../progress.ts";
import { parseRequirement, requireScores } from "../require-scores.ts";
import { refuseStray } from "../stray-flags.ts";
import { addEvalCompare } from "./eval-compare.ts";
import { addEvalReport, writeReport } from "./eval-report.ts";
import { addEvalRetrieval } from "./eval-retrieval.ts";

interface EvalFlags extends MeasuringFlags {
  out?: string;
  resume?: true;
  require?: string[];
  allowErrors?: number;
  format?: TextFormat;
  json?: true;
}

/** `agentrl eval`: a policy on questions; `agentrl eval retrieval`: an index on judged queries. */
export const evalCommand: CliCommand = {
  name: "eval",
  register(program, context) {
    const family = program
      .command("eval")
      .summary("measure a policy on questions, or a retriever on queries")
      .description(
        "Measure; nothing is trained. Without a subcommand it is `eval policy`: its options are listed by " +
          "`agentrl eval policy --help`.",
      );
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
    addEvalRetrieval(family, context);
    addEvalReport(family, context);
    addEvalCompare(family, context);
  },
};

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
  const resolved = await measuringSettings(flags, context);
  const { samplesPerTask, sampling } = resolved.settings.evaluation;
  const names = metricNames(samplesPerTask);
  const requirements = (flags.require ?? []).map((text) => parseRequirement(text, names));
  if (samplesPerTask > 1 && sampling.temperature === 0) {
    context.note(
      `All ${samplesPerTask} draws of a question are alike at temperature 0: set --temperature.`,
    );
  }
  const { out } = flags;
  const format = formatOf(flags);
  const temporary = await folderForRows(format, out);
  const folder = out ?? temporary;
  let outcome: EvalOutcome;
  try {
    outcome = await run(
      resolved,
      { ...flags, ...(folder === undefined ? {} : { out: folder }) },
      context,
    );
    if (format === undefined) context.out(evaluationText(outcome.result));
    else if (format === "json") context.out(asJson(outcome, out));
    else if (folder !== undefined) await writeReport([folder], { format }, context);
  } finally {
    if (temporary !== undefined) await rm(temporary, { recursive: true, force: true });
  }
  const { result, timings, requests } = outcome;
  const { errors, metrics } = result;
  context.note(timingsText(timings, requests));
  if (out !== undefined) context.note(`written to ${join(out, "results.json")}`);
  for (const warning of cutWarnings(result, resolved.settings)) context.note(warning);
  requireUncut(result, resolved.settings);
  requireComplete(errors, flags);
  requireScores(requirements, metrics);
}

/** Evaluates every policy on every dataset, each in its own folder of --out; --require and the exit status are those of all. */
async function evaluateMatrix(
  cells: readonly MatrixCell[],
  flags: EvalFlags,
  context: CliContext,
): Promise<void> {
  const { out } = flags;
  const requirements = (flags.require ?? []).map((text) => parseRequirement(text, MATRIX_METRICS));
  const format = formatOf(flags);
  const temporary = await folderForRows(format, out);
  const root = out ?? temporary;
  const measured: { dataset: string; result: EvalResult; settings: Settings }[] = [];
  const noted = new Set<string>();
  const noteOnce = (text: string): void => {
    if (!noted.has(text)) context.note(text);
    noted.add(text);
  };
  try {
    for (const [i, cell] of cells.entries()) {
      const own = { ...flags, ...cell.flags };
      const { policy, model } = own;
      const names = [model, policy, cell.dataset].filter((name) => name !== undefined);
      context.note(`${i + 1} of ${cells.length}: ${names.join(", ")}`);
      const resolved = await measuringSettings(own, { note: noteOnce });
      const place = root === undefined ? {} : { out: join(root, cell.folder) };
      const { result } = await run(resolved, { ...own, ...place }, context);
      const dataset = cell.dataset ?? result.dataset;
      measured.push({ dataset, result, settings: resolved.settings });
    }
    const rows = matrixOf(measured);
    if (format === undefined) context.out(matrixText(rows));
    else if (format === "json")
      context.out(JSON.stringify({ matrix: rows, cells: measured.map(({ result }) => result) }));
    else if (root !== undefined) {
      if (format === "md") context.out(`${matrixMarkdown(rows)}\n`);
      const folders = cells.map(({ folder }) => join(root, folder));
      await writeReport(folders, { format }, context);
    }
    for (const { settings, result, dataset } of measured)
      for (const warning of cutWarnings(result, settings)) context.note(`${dataset}: ${warning}`);
    for (const { settings, result } of measured) {
      requireUncut(result, settings);
      requireComplete(result.errors, flags);
    }
    for (const { average } of rows) requireScores(requirements, average);
  } finally {
    if (temporary !== undefined) await rm(temporary, { recursive: true, force: true });
  }
}

/** @throws {ConfigError} USAGE when --json and --format disagree. */
function formatOf({ json, format }: EvalFlags): TextFormat | undefined {
  if (json === true && format !== undefined && format !== "json") {
    throw new ConfigError(
      "USAGE",
      `--json is --format json, and --format ${format} was given too. Leave one out.`,
    );
  }
  return json === true ? "json" : format;
}

/** A temporary folder for the rows of a format, if they are not kept. */
async function folderForRows(
  format: TextFormat | undefined,
  out: string | undefined,
): Promise<string | undefined> {
  if (out !== undefined || format === undefined || format === "json") return undefined;
  return mkdtemp(join(tmpdir(), "agentrl-eval-"));
}

function asJson({ result, timings, requests }: EvalOutcome, out: string | undefined): string {
  const asked = requests === undefined ? {} : { requests };
  return JSON.stringify({ ...result, timings, ...asked, ...(out === undefined ? {} : { out }) });
}

function interruptedText(out: string | undefined): string {
  return out === undefined
    ? "The evaluation was interrupted; without --out nothing was kept."
    : `${out}: interrupted, finished rows are kept; the same command with --resume continues.`;
}

/** @throws {ScoreError} EVALUATION_INCOMPLETE */
function requireComplete(
  { n, byCode }: EvaluationErrors,
  { allowErrors = 0, out }: EvalFlags,
): void {
  if (n <= allowErrors) return;
  const codes = Object.entries(byCode).map(([code, count]) => `${code} ${count}`);
  const again = out === undefined ? "With --out, --resume retries them" : "--resume retries them";
  throw new ScoreError(
    "EVALUATION_INCOMPLETE",
    `${n} rollouts failed and are not measured (${codes.join(", ")}). ${again}; --allow-errors ${n} accepts them.`,
  );
}

async function run(
  resolved: ResolvedSettings<Settings>,
  { index, limit, out, resume }: EvalFlags,
  context: CliContext,
): Promise<EvalOutcome> {
  // The runtime is slow to load: not for --help.
  const { runEval } = await import("../../recipe/run-eval.ts");
  let progress: Progress | null = null;
  /** The first of each kind. */
  const failures = new Map<string, string>();
  const download = watchDownload(context);
  try {
    return await runEval(resolved, {
      ...(index === undefined ? {} : { index }),
      ...(limit === undefined ? {} : { limit }),
      ...(out === undefined ? {} : { out }),
      ...{ resume: resume === true, countFirst: context.terminal },
      signal: context.signal,
      download: download.options,
      onStart: ({ draws, kept }) => {
        if (kept > 0) context.note(`${kept} rows are taken over from ${out ?? ""}.`);
        const unit = resolved.settings.evaluation.samplesPerTask > 1 ? "draws" : "questions";
        progress = startProgress(context, { label: "evaluating", total: draws ?? 0, unit });
      },
      onProgress: ({ done, failed, em, error }) => {
        progress?.update(done, `EM ${em.toFixed(3)}${failed === 0 ? "" : `, ${failed} failed`}`);
        if (error !== undefined && !failures.has(error.code))
          failures.set(error.code, error.message);
      },
    });
  } finally {
    download.stop();
    (progress as Progress | null)?.stop();
    for (const [code, message] of failures) context.note(`${code}: ${message}`);
    if (context.signal.aborted) context.note(interruptedText(out));
  }
}
