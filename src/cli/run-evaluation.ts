import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { definedValues } from "../base/defined-values.ts";
import { ScoreError } from "../base/errors.ts";
import { formatPercent, formatScore, shorten } from "../base/format.ts";
import { packageVersion } from "../base/package-root.ts";
import type { EvaluationErrors, EvaluationSummary } from "../evaluate/evaluation-summary.ts";
import { budgetOf, largestBudgets, observationTokens } from "../env/budget.ts";
import type { EvalOutcome } from "../run/run-eval.ts";
import type { Session } from "../run/session.ts";
import type { Settings } from "../run/settings/settings-schema.ts";
import type { ResolvedSettings } from "../run/settings/settings.ts";
import type { TextFormat } from "../view/report-formats.ts";
import type { CliContext } from "./command.ts";
import { MEASURING_OPTIONS } from "./eval-flags.ts";
import { watchDownload } from "./model-download.ts";
import { type Flags, jsonFlag, options, outFlag, requireFlag, wholeNumber } from "./options.ts";
import { type Progress, startProgress } from "./progress.ts";
import { usage } from "./usage.ts";

/** Named here as well: pages are slow to load, and not for --help. */
const FORMATS = ["json", "jsonl", "csv", "md", "html"] as const satisfies readonly TextFormat[];

/** Options of an evaluation. */
export const EVAL_OPTIONS = options({
  ...MEASURING_OPTIONS,
  out: outFlag("folder for rows.jsonl, trajectories.jsonl and results.json"),
  resume: ["", "resume: keep the rows in --out and measure the rest"],
  require: requireFlag("em>=0.5"),
  allowErrors: [
    "<n>",
    "exit with status 0 if at most n rollouts failed (default: 0); failed rollouts are not measured",
    wholeNumber(0),
  ],
  format: [
    "<format>",
    "format of stdout: json (as --json), jsonl or csv (a line per draw), md, html (a page with every trajectory); default: a table",
    FORMATS,
  ],
  json: jsonFlag(),
});

export type EvalFlags = Flags<typeof EVAL_OPTIONS>;

function interruptedText(out: string | undefined): string {
  return out === undefined
    ? "The evaluation was interrupted; without --out nothing was kept."
    : `${out}: interrupted, finished rows are kept; \`agentrl resume ${out}\` continues.`;
}

/** @throws {ScoreError} EVALUATION_INCOMPLETE */
export function requireComplete(
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

/**
 * Evaluates with progress; says what failed, and after an interruption how to continue.
 * @param folder for the rows: --out, a folder in it, or a temporary one.
 */
export async function runEvaluation(
  resolved: ResolvedSettings<Settings>,
  { index, limit, shuffle, out, resume }: EvalFlags,
  folder: string | undefined,
  context: CliContext,
): Promise<EvalOutcome> {
  // The runtime is slow to load: not for --help.
  const { evaluatePolicy } = await import("../run/run-eval.ts");
  const { runAlone } = await import("../run/driver.ts");
  const { evaluateStage } = await import("../run/stages/shipped.ts");
  let progress: Progress | null = null;
  /** The first of each kind. */
  const failures = new Map<string, string>();
  const download = watchDownload(context);
  try {
    const options = definedValues({ index, limit, shuffle });
    const session: Omit<Session, "out"> = {
      version: packageVersion(),
      resume: resume === true,
      countsFirst: context.terminal,
      signal: context.signal,
      download: download.options,
      onStart: ({ total: draws, kept }) => {
        if (kept > 0) context.note(`${kept} rows are taken over from ${folder ?? ""}.`);
        const unit = resolved.settings.evaluation.samplesPerTask > 1 ? "draws" : "questions";
        progress = startProgress(context, { label: "evaluating", total: draws ?? 0, unit });
      },
      onProgress: ({ done, failed, em, error }) => {
        progress?.update(done, `EM ${formatScore(em)}${failed === 0 ? "" : `, ${failed} failed`}`);
        if (error !== undefined && !failures.has(error.code))
          failures.set(error.code, error.message);
      },
    };
    if (folder === undefined) {
      const { recordOf } = await import("../run/settings/resolved-yaml.ts");
      const { settings } = resolved;
      return await evaluatePolicy({ ...session, settings, record: recordOf(resolved) }, options);
    }
    return await runAlone(evaluateStage, resolved, { ...session, out: folder }, { options });
  } finally {
    download.stop();
    (progress as Progress | null)?.stop();
    for (const [code, message] of failures) context.note(`${code}: ${message}`);
    if (context.signal.aborted) context.note(interruptedText(out));
  }
}

/** @throws {ConfigError} USAGE when --json and --format disagree. */
export function formatOf({ json, format }: EvalFlags): TextFormat | undefined {
  if (json === true && format !== undefined && format !== "json")
    throw usage(`--json is --format json, and --format ${format} was given too. Leave one out.`);
  return json === true ? "json" : format;
}

/** Does work with a folder for the rows: --out, or a temporary one for a format that needs rows; else undefined. */
export async function withRowsFolder<T>(
  flags: EvalFlags,
  work: (folder: string | undefined) => Promise<T>,
): Promise<T> {
  const format = formatOf(flags);
  if (flags.out !== undefined || format === undefined || format === "json") return work(flags.out);
  const temporary = await mkdtemp(join(tmpdir(), "agentrl-eval-"));
  try {
    return await work(temporary);
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** Characters of a reply in a warning. */
const REPLY_START = 160;

/** Warnings about answers that budgets cut, about answers inside of thoughts, and about an evaluation without any answer. */
export function answerWarnings(outcome: EvalOutcome, settings: Settings): string[] {
  return [
    ...cutWarnings(outcome.result, settings),
    ...inThoughtsWarning(outcome),
    ...noAnswerWarning(outcome),
  ];
}

function inThoughtsWarning({ answersInThoughts }: EvalOutcome): string[] {
  if (answersInThoughts === undefined) return [];
  const { messages, inside } = answersInThoughts;
  return [
    `The answer stands inside of a thought in ${formatPercent(inside / messages)} of the messages that answer (${inside} of ${messages}): this protocol takes a message's first tags, as published. environment.protocol=hermes ignores what thoughts quote.`,
  ];
}

function noAnswerWarning({ result, unanswered }: EvalOutcome): string[] {
  const { metrics, ends } = result;
  if (metrics.answer_rate !== 0) return [];
  const counts = Object.entries(ends).map(([end, count]) => `${end} ${count}`);
  const warning = `No question got an answer, so all scores are 0 (${counts.join(", ")}).`;
  if (unanswered === undefined) return [warning];
  const { reply, pattern } = unanswered;
  if (reply.trim() === "") return [`${warning} The first reply is empty.`];
  const cause = new RegExp(pattern, "s").test(reply)
    ? ""
    : ` Replies do not match ${pattern}, which reads the answer: choose another --strategy, or set environment.protocol.answer.pattern by --set.`;
  return [
    `${warning}${cause} The first reply begins: ${JSON.stringify(shorten(reply, REPLY_START))}`,
  ];
}

/** Share of questions from which on a cut is worth a warning. */
const TOLERATED = 0.02;

type Measured = Pick<EvaluationSummary, "metrics">;

interface Cut {
  what: string;
  share: number;
  cure: string;
}

/** Warnings about cuts in at least 2 % of the questions, each with what helps. */
function cutWarnings(summary: Measured, settings: Settings): string[] {
  return cutsOf(summary, settings)
    .filter(({ share }) => share >= TOLERATED)
    .map(
      ({ what, share, cure }) =>
        `${what} were cut in ${formatPercent(share)} of the questions: ${cure}`,
    );
}

/**
 * Refuses a server's result that only measures limits: all questions were cut, and none has an answer. A policy on this machine that never
 * answers within its budgets, such as an untrained one, is measured rightly and only gets the warnings.
 * @throws {ScoreError} EVALUATION_ALL_CUT
 */
export function requireUncut(summary: Measured, settings: Settings): void {
  if (settings.policy.endpoint === undefined || summary.metrics.answer_rate > 0) return;
  const whole = cutsOf(summary, settings).find(({ share }) => share === 1);
  if (whole === undefined) return;
  throw new ScoreError(
    "EVALUATION_ALL_CUT",
    `${whole.what} were cut in every question, and no question has an answer, so the scores say nothing about the policy. ${whole.cure}`,
  );
}

function cutsOf({ metrics }: Measured, settings?: Settings): Cut[] {
  const limits = largestBudgets(settings?.evaluation.budgets ?? settings?.budgets ?? []);
  const limit = (scope: "turn" | "observation" | "context", of = ""): string => {
    const found =
      scope === "observation" ? observationTokens(limits) : budgetOf(limits, scope)?.limit;
    return found === undefined ? "" : ` (${found} tokens${of})`;
  };
  const budgets = "--tier paper has larger budgets, and --set budgets=… sets them";
  const isServer = settings?.policy.endpoint !== undefined;
  const cures = {
    messages: isServer
      ? `Raise --max-tokens${limit("turn", " by the recipe")}; reasoning models need thousands.`
      : `Raise the budget of a turn${limit("turn")}: ${budgets}.`,
    observations: `Raise the budget of an observation${limit("observation")}, or show fewer passages: ${budgets}.`,
    contexts: `Raise the budget of the context${limit("context")}: ${budgets}. The model or its server must hold as many tokens.`,
  };
  const shares = {
    messages: metrics.cut_message_rate,
    observations: metrics.cut_observation_rate,
    contexts: metrics.cut_context_rate,
  };
  return (["messages", "observations", "contexts"] as const).flatMap((what) => {
    const share = shares[what];
    return share === undefined ? [] : [{ what, share, cure: cures[what] }];
  });
}
