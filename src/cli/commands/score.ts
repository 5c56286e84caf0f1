import { ConfigError } from "../../base/errors.ts";
import { writeAtomic } from "../../base/files.ts";
import { fixed } from "../../base/format.ts";
import { suggest } from "../../base/nearest.ts";
import { intervalColumn, renderText } from "../../base/table.ts";
import { ANSWER_METRICS_VERSION } from "../../evaluate/evaluation-row.ts";
import { metricNames } from "../../evaluate/evaluation-summary.ts";
import { answerMetrics } from "../../evaluate/metrics/answer-metrics.ts";
import { predictionFields } from "../../evaluate/prediction-fields.ts";
import type { PredictionSource } from "../../evaluate/predictions.ts";
import { summarizeRowsFile } from "../../evaluate/rows-file.ts";
import { type AnswerScores, scoreAnswers, summarizeScores } from "../../evaluate/score-answers.ts";
import { type ScoredFile, type ScoredRow, scoreLayouts } from "../../evaluate/score-file.ts";
import { type Normalization, normalizations } from "../../text/answer-normalizations.ts";
import { rowsBlocks } from "../../view/documents/scores.ts";
import { claimOutput } from "../claim-output.ts";
import { type CliContext, defineCommand } from "../command.ts";
import { shortened } from "../data-check-text.ts";
import { ANSWER_SEPARATOR } from "../data-flags.ts";
import {
  type Flags,
  jsonFlag,
  options,
  outFlag,
  overwriteFlag,
  refuseStray,
  requireFlag,
  seedFlag,
} from "../options.ts";
import { parseRequirement, requireScores } from "../require-scores.ts";
import { usage } from "../usage.ts";

/** Flags without effect on rows, which already have scores. */
const OF_PREDICTIONS = [
  ...["references", "layout", "predictionField", "referencesField", "idField", "answerSeparator"],
  ...["verdictField", "spans", "normalization", "metrics", "out", "overwrite"],
];

const OPTIONS = options({
  predictions: ["<file>", "the predicted answers"],
  references: ["<file>", "file with the references, if the predictions file has none"],
  layout: ["<name>", `${listed(scoreLayouts.parts)} (default: answers)`, scoreLayouts.names],
  predictionField: ["<field>", "field of the answer (default: prediction, else found by its name)"],
  referencesField: [
    "<field>",
    "field of the accepted answer, or of a list of them (default: references, else found by its name)",
  ],
  idField: ["<field>", "field that joins the two files (default: id, else found by its name)"],
  verdictField: ["<field>", "field that says whether a human judged the answer right"],
  answerSeparator: ANSWER_SEPARATOR,
  spans: ["", "the references are spans of one answer, not alternatives (DROP)"],
  rows: ["<file>", "instead of --predictions: rows.jsonl of an evaluation, summed up again"],
  unaidedRows: [
    "<file>",
    "with --rows: the same questions without search (--strategy direct), for over-search",
  ],
  forcedRows: [
    "<file>",
    "with --rows: the same questions always searched (--strategy rag), for searches that were missed",
  ],
  normalization: [
    "<name>",
    `${listed(normalizations.parts)} (default: words)`,
    normalizations.names as readonly Normalization[],
  ],
  metrics: [
    "<names>",
    "metrics to compute, comma-separated, e.g. em,f1 (default: all of the layout)",
    (text: string) => text.split(","),
  ],
  out: outFlag("file for each answer's scores, one JSON line each"),
  overwrite: overwriteFlag(),
  require: requireFlag("em>=0.5"),
  seed: seedFlag("seed of the bootstrap intervals (default: 0)"),
  json: jsonFlag(),
});

type ScoreFlags = Flags<typeof OPTIONS>;

/** `agentrl score`: scores any predictions file by the answer metrics. */
export const scoreCommand = defineCommand({
  name: "score",
  description:
    `Score a file of predicted answers: ${answerMetrics.names.join(", ")}; official HotpotQA files with ` +
    "supporting facts. Files are JSON lines, a JSON array, a table (CSV, TSV, Parquet), or (predictions, with --references) a JSON object " +
    "from id to answer. Fields may be paths: answers.0.text",
  options: OPTIONS,
  async run(flags, context) {
    const { predictions, rows } = flags;
    if ((predictions === undefined) === (rows === undefined))
      throw usage(
        "score needs either --predictions, a file of answers, or --rows, those of an evaluation.",
      );
    if (rows === undefined) refuseStray(flags, ["unaidedRows", "forcedRows"], "--rows");
    else refuseStray(flags, OF_PREDICTIONS, "--predictions");
    if (rows === undefined) await score({ ...flags, predictions: predictions ?? "" }, context);
    else await scoreRows({ ...flags, rows }, context);
  },
});

function listed(parts: readonly { name: string; summary: string }[]): string {
  return parts.map(({ name, summary }) => `${name}: ${summary}`).join(" ");
}

async function score(
  flags: ScoreFlags & { predictions: string },
  context: CliContext,
): Promise<void> {
  const { layout: name = "answers", out, json, seed = 0, require = [], ...rest } = flags;
  if (out !== undefined) claimOutput(out, flags.overwrite);
  const layout = scoreLayouts.get(name, "--layout");
  const metrics = flags.metrics ?? layout.metrics;
  for (const metric of metrics) checkMetric(metric, layout);
  const requirements = require.map((text) => parseRequirement(text, metrics));
  const file = await layout.score(rest);
  context.signal.throwIfAborted();
  // HotpotQA's official files have fixed fields.
  if (name !== "hotpotqa") await noteGuessedFields(rest, file, context);
  const scores = summarizeScores(
    file.rows.map((row) => row.scores),
    { shares: file.shares, seed },
  );
  if (out !== undefined) await writeRows(out, file.rows);
  if (json === true) context.out(JSON.stringify(asJson(file, scores, { layout: name, out })));
  else context.out(asText(file, scores));
  if (file.unanswered > 0)
    context.note(`${file.unanswered} of ${scores.n} have no answer; they count as wrong.`);
  for (const note of file.notes) context.note(note);
  if (name === "answers" && flags.spans !== true) noteOther(file, scores, context);
  if (out !== undefined) context.note(`written to ${out}`);
  requireScores(requirements, scores.metrics);
}

const SHOWN_ANSWERS = 3;

/** Says which fields were guessed from their names, and shows the first answers as they were understood. */
async function noteGuessedFields(
  source: PredictionSource,
  { rows }: ScoredFile,
  context: CliContext,
): Promise<void> {
  const { guessed, ...fields } = await predictionFields(source);
  if (guessed.length === 0) return;
  const found = guessed.map((role) => `${role} ← ${fields[role]} (--${role}-field)`);
  context.note(`fields by their names: ${found.join(", ")}. The first answers:`);
  const sample = rows
    .slice(0, SHOWN_ANSWERS)
    .map(({ id, prediction, references }) => [
      ...[id, prediction === null ? null : shortened([prediction].flat().join(" | "))],
      shortened(references.join(" | ")),
    ]);
  context.note(`${renderText({ columns: ["id", "prediction", "references"], rows: sample }, 2)}\n`);
}

function checkMetric(metric: string, layout: { name: string; metrics: readonly string[] }): void {
  if (layout.metrics.includes(metric)) return;
  throw new ConfigError(
    "PART_UNKNOWN",
    `--metrics names "${metric}"; --layout ${layout.name} has no such metric. ${suggest(metric, layout.metrics)}`,
  );
}

function asJson(
  { normalization, unanswered }: ScoredFile,
  { n, metrics, intervals, intervalMethods }: AnswerScores,
  { layout, out }: { layout: string; out: string | undefined },
): unknown {
  return {
    n,
    metrics,
    intervals,
    intervalMethods,
    layout,
    normalization,
    metricsVersion: ANSWER_METRICS_VERSION,
    unanswered,
    out,
  };
}

function asText(
  { normalization }: ScoredFile,
  { n, metrics, intervals, intervalMethods }: AnswerScores,
): string {
  const four = fixed(4);
  const columns = ["", { label: "mean", format: four }, intervalColumn("95 % interval", four), ""];
  const rows = Object.entries(metrics).map(([name, value]) => [
    ...[name, value, intervals[name], intervalMethods[name]],
  ]);
  return [`${n} answers, normalization ${normalization}`, renderText({ columns, rows })].join("\n");
}

async function writeRows(path: string, rows: readonly ScoredRow[]): Promise<void> {
  await writeAtomic(path, async (write) => {
    for (const { scores, ...row } of rows)
      await write(`${JSON.stringify({ ...row, ...scores })}\n`);
  });
}

/** Published numbers use different normalisations: a note shows the difference, if there is one. */
function noteOther(
  { rows, normalization }: ScoredFile,
  { metrics }: AnswerScores,
  context: CliContext,
): void {
  const { em } = metrics;
  if (em === undefined) return;
  const others = normalizations.parts.flatMap(({ name }) => {
    const other = scoreAnswers(rows, { normalization: name, metrics: ["em"] }).metrics["em"];
    return other === undefined || other === em ? [] : [`${fixed(4)(other)} by ${name}`];
  });
  if (others.length === 0) return;
  context.note(
    `em is ${fixed(4)(em)} by --normalization ${normalization}, ${others.join(", ")}: compare only with numbers of the same one.`,
  );
}

/** The figures of an evaluation from its rows, and the comparison with other runs of the same policy. */
async function scoreRows(flags: ScoreFlags & { rows: string }, context: CliContext): Promise<void> {
  const { rows, unaidedRows, forcedRows, seed = 0, require = [], json } = flags;
  const source = { rows, unaided: unaidedRows, forced: forcedRows };
  const summary = await summarizeRowsFile(source, { seed });
  context.signal.throwIfAborted();
  const own = Object.keys(summary.metrics);
  const names = [...new Set([...metricNames(summary.samplesPerTask), ...own])];
  const requirements = require.map((text) => parseRequirement(text, names));
  context.out(json === true ? JSON.stringify(summary) : rowsBlocks(summary));
  requireScores(requirements, summary.metrics);
}
