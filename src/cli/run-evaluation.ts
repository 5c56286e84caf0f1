import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { definedValues } from "../base/defined-values.ts";
import { ConfigError, ScoreError } from "../base/errors.ts";
import { formatScore } from "../base/format.ts";
import { packageVersion } from "../base/package-root.ts";
import type { EvaluationErrors } from "../evaluate/evaluation-summary.ts";
import type { EvalOutcome } from "../run/run-eval.ts";
import type { Session } from "../run/session.ts";
import type { Settings } from "../run/settings/settings-schema.ts";
import type { ResolvedSettings } from "../run/settings/settings.ts";
import type { TextFormat } from "../view/report-formats.ts";
import type { CliContext } from "./command.ts";
import type { MeasuringFlags } from "./eval-flags.ts";
import { watchDownload } from "./model-download.ts";
import { type Progress, startProgress } from "./progress.ts";

/** Options of an evaluation. */
export interface EvalFlags extends MeasuringFlags {
  out?: string;
  resume?: true;
  require?: string[];
  allowErrors?: number;
  format?: TextFormat;
  json?: true;
}

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
  if (json === true && format !== undefined && format !== "json") {
    throw new ConfigError(
      "USAGE",
      `--json is --format json, and --format ${format} was given too. Leave one out.`,
    );
  }
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
