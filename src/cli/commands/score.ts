import { Option } from "commander";
import { answerMetrics, type ScoredAnswer } from "../../evaluate/metrics/answer-metrics.ts";
import { type PredictionSource, readPredictions } from "../../evaluate/predictions.ts";
import { type AnswerScores, scoreAnswers } from "../../evaluate/score-answers.ts";
import { type Normalization, normalizations } from "../../text/answer-normalizations.ts";
import type { CliCommand, CliContext } from "../command.ts";
import { jsonOption } from "../options.ts";
import { parseRequirement, requireScores } from "../require-scores.ts";
import { table } from "../table.ts";

interface ScoreOptions extends PredictionSource {
  normalization?: Normalization;
  require?: string[];
  json?: true;
}

/** `agentrl score`: a predictions file of anybody's, by the answer metrics. */
export const scoreCommand: CliCommand = {
  name: "score",
  register(program, context) {
    program
      .command("score")
      .summary("score a file of predicted answers")
      .description(
        "Score a file of predicted answers: em, f1, cover_em, token_cover. Files are JSON lines, a JSON array, or " +
          "(predictions, with --references) a JSON object from id to answer. Fields may be paths: answers.0.text",
      )
      .requiredOption("--predictions <file>", "the predicted answers")
      .option("--prediction-field <field>", "where the answer is (default: prediction)")
      .option(
        "--references-field <field>",
        "where the accepted answer, or list of them, is (default: references)",
      )
      .option("--references <file>", "where the references are, if not beside the predictions")
      .option("--id-field <field>", "what joins the two files (default: id)")
      .addOption(
        new Option(
          "--normalization <name>",
          "words: punctuation becomes a space (R1-Searcher); squad: it is deleted (SQuAD, HotpotQA) (default: words)",
        ).choices(normalizations.names),
      )
      .option(
        "--require <condition>",
        'fail with status 5 unless it holds, e.g. "em>=0.5"; repeatable',
        (text: string, before: string[] | undefined) => [...(before ?? []), text],
      )
      .addOption(jsonOption())
      .action((options: ScoreOptions) => score(options, context));
  },
};

/**
 * What this command applies when not told: it gives the published numbers of both R1-Searcher's and IRCoT's files.
 * `eval` and the rewards use "squad".
 */
const DEFAULT_NORMALIZATION: Normalization = "words";

async function score(options: ScoreOptions, context: CliContext): Promise<void> {
  const { normalization = DEFAULT_NORMALIZATION, require = [], json, ...source } = options;
  const requirements = require.map((text) => parseRequirement(text, answerMetrics.names));
  const answers = await readPredictions(source);
  context.signal.throwIfAborted();
  const scores = scoreAnswers(answers, { normalization });
  const unanswered = answers.filter(({ prediction }) => prediction === null).length;
  if (json === true) {
    context.out(
      JSON.stringify({ n: scores.n, metrics: scores.metrics, normalization, unanswered }),
    );
  } else {
    context.out(asText(scores, normalization));
  }
  if (unanswered > 0) {
    context.note(`${unanswered} of ${scores.n} have no answer; they count as wrong.`);
  }
  noteOther(answers, scores, normalization, context);
  requireScores(requirements, scores.metrics);
}

function asText({ n, metrics }: AnswerScores, normalization: Normalization): string {
  const rows = Object.entries(metrics).map(([name, value]) => [name, value.toFixed(4)]);
  return `${n} answers, normalization ${normalization}\n${table(rows, { align: ["left", "right"] })}`;
}

/** Published numbers rest on either normalisation: where it matters, the reader must know. */
function noteOther(
  answers: readonly ScoredAnswer[],
  { metrics }: AnswerScores,
  normalization: Normalization,
  context: CliContext,
): void {
  for (const { name: other } of normalizations.parts) {
    const { em = NaN } = scoreAnswers(answers, { normalization: other, metrics: ["em"] }).metrics;
    if (em === metrics["em"]) continue;
    context.note(
      `em is ${(metrics["em"] ?? NaN).toFixed(4)} by --normalization ${normalization} and ${em.toFixed(4)} by ${other}: compare only with numbers of the same one.`,
    );
  }
}
