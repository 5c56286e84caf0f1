import { join } from "node:path";
import type { Command } from "commander";
import { ScoreError } from "../../base/errors.ts";
import { type EvaluationErrors, metricNames } from "../../evaluate/evaluation-summary.ts";
import type { EvalOutcome } from "../../recipe/run-eval.ts";
import type { ResolvedSettings } from "../../recipe/settings.ts";
import type { Settings } from "../../recipe/settings-schema.ts";
import type { CliCommand, CliContext } from "../command.ts";
import { addMeasuringOptions, type MeasuringFlags, measuringSettings } from "../eval-flags.ts";
import { evaluationText, timingsText } from "../evaluation-text.ts";
import { watchDownload } from "../model-download.ts";
import { jsonOption, outOption, wholeNumber } from "../options.ts";
import { type Progress, startProgress } from "../progress.ts";
import { parseRequirement, requireScores } from "../require-scores.ts";
import { addEvalCompare } from "./eval-compare.ts";
import { addEvalReport } from "./eval-report.ts";
import { addEvalRetrieval } from "./eval-retrieval.ts";

interface EvalFlags extends MeasuringFlags {
  out?: string;
  resume?: true;
  require?: string[];
  allowErrors?: number;
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
          "budgets come from a recipe; flags win over it.",
      );
    addMeasuringOptions(policy);
    addOutputOptions(policy);
    policy.action((flags: EvalFlags) => evaluate(flags, context));
    addEvalRetrieval(family, context);
    addEvalReport(family, context);
    addEvalCompare(family, context);
  },
};

function addOutputOptions(command: Command): void {
  command
    .addOption(outOption("folder for rows.jsonl, trajectories.jsonl and results.json"))
    .option("--resume", "go on with the rows that --out holds")
    .option(
      "--require <condition>",
      'fail with status 5 unless it holds, e.g. "em>=0.5"; repeatable',
      (text: string, before: string[] | undefined) => [...(before ?? []), text],
    )
    .option(
      "--allow-errors <n>",
      "end well though so many rollouts failed (default: 0); they are never measured",
      wholeNumber(0),
    )
    .addOption(jsonOption());
}

async function evaluate(flags: EvalFlags, context: CliContext): Promise<void> {
  const resolved = await measuringSettings(flags);
  const { samplesPerTask, sampling } = resolved.settings.evaluation;
  const names = metricNames(samplesPerTask);
  const requirements = (flags.require ?? []).map((text) => parseRequirement(text, names));
  if (samplesPerTask > 1 && sampling.temperature === 0) {
    context.note(
      `All ${samplesPerTask} draws of a question are alike at temperature 0: set --temperature.`,
    );
  }
  const { result, timings, requests } = await run(resolved, flags, context);
  const { errors, metrics } = result;
  const { out } = flags;
  if (flags.json === true) {
    const more = { timings, ...(requests === undefined ? {} : { requests }) };
    context.out(JSON.stringify({ ...result, ...more, ...(out === undefined ? {} : { out }) }));
  } else {
    context.out(evaluationText(result));
  }
  context.note(timingsText(timings, requests));
  if (out !== undefined) context.note(`written to ${join(out, "results.json")}`);
  requireComplete(errors, flags);
  requireScores(requirements, metrics);
}

/** @throws {ScoreError} EVALUATION_INCOMPLETE */
function requireComplete(
  { n, byCode }: EvaluationErrors,
  { allowErrors = 0, out }: EvalFlags,
): void {
  if (n <= allowErrors) return;
  const codes = Object.entries(byCode).map(([code, count]) => `${code} ${count}`);
  const again =
    out === undefined ? "With --out, --resume asks them again" : "--resume asks them again";
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
      onProgress: ({ done, failed, em }) => {
        progress?.update(done, `EM ${em.toFixed(3)}${failed === 0 ? "" : `, ${failed} failed`}`);
      },
    });
  } finally {
    download.stop();
    (progress as Progress | null)?.stop();
  }
}
