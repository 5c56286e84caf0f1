import { ConfigError } from "../base/errors.ts";
import { type Part, registry } from "../base/registry.ts";
import type { Normalization } from "../text/answer-normalizations.ts";
import { ircotSpans } from "../text/drop-answers.ts";
import { readHotpotqaFiles } from "./hotpotqa-predictions.ts";
import { answerMetrics, type ScoredAnswer } from "./metrics/answer-metrics.ts";
import { hotpotqaMetrics, scoreHotpotqa } from "./metrics/hotpotqa-official.ts";
import { type PredictionSource, readPredictions, readPredictionsById } from "./predictions.ts";
import { scoreEach, type ScoreValues } from "./score-answers.ts";

/** Options of scoring a file. */
export interface ScoreFileOptions extends PredictionSource {
  /** For metrics without their own; default: the layout's. */
  normalization?: Normalization;
  /** Default: all of the layout. */
  metrics?: readonly string[];
}

/** A predictions file, scored answer by answer. */
export interface ScoredFile {
  rows: ScoredRow[];
  /** Metrics that are 0 or 1. */
  shares: readonly string[];
  normalization: Normalization;
  /** Answers without a prediction. */
  unanswered: number;
  /** Notes for the reader. */
  notes: string[];
}

/** One answer of a predictions file and its scores. */
export interface ScoredRow {
  /** The id that joined two files, or the answer's number from 1. */
  id: string;
  prediction: ScoredAnswer["prediction"];
  references: readonly string[];
  scores: ScoreValues;
}

/** A kind of predictions file with its own rules of scoring. */
interface ScoreLayout extends Part {
  /** Metrics that it can report, in the order of tables. */
  readonly metrics: readonly string[];
  score(options: ScoreFileOptions): Promise<ScoredFile>;
}

/**
 * What is applied to files of answers when not told: it gives the published numbers of both R1-Searcher's and IRCoT's files.
 * `eval` and the rewards use "squad".
 */
const DEFAULT_NORMALIZATION: Normalization = "words";

/** The share of answers that somebody judged right, where a file says so. */
const VERDICT_METRIC = "judged";

const DROP_METRICS = answerMetrics.names.filter((name) => name.startsWith("drop_"));

const answers: ScoreLayout = {
  name: "answers",
  summary: "Records with an answer and its references, or two files joined by ids.",
  metrics: [...answerMetrics.names, VERDICT_METRIC],
  score: (options) => scoreAnswerFile(options, (answer) => answer),
};

const ircot: ScoreLayout = {
  name: "ircot",
  summary:
    "As StonyBrookNLP/ircot evaluates: references are spans of one answer, a text in brackets is a list, what follows “answer is” counts; drop_ metrics.",
  metrics: DROP_METRICS,
  score: (options) =>
    scoreAnswerFile({ ...options, spans: true }, (answer) => ({
      ...answer,
      prediction: answer.prediction === null ? null : ircotSpans(answer.prediction),
    })),
};

const hotpotqa: ScoreLayout = {
  name: "hotpotqa",
  summary:
    "HotpotQA's and 2WikiMultihopQA's official prediction files, {answer, sp}: answer, supporting-fact (sp_) and joint metrics.",
  metrics: hotpotqaMetrics.names,
  score: scoreHotpotqaFile,
};

/** All kinds of predictions files. */
export const scoreLayouts = registry<ScoreLayout>("layout", [answers, hotpotqa, ircot]);

async function scoreAnswerFile(
  options: ScoreFileOptions,
  read: (answer: ScoredAnswer) => ScoredAnswer,
): Promise<ScoredFile> {
  const { normalization = DEFAULT_NORMALIZATION, spans = false } = options;
  const named = answerMetrics.parts.map(({ name }) => name);
  const asked = options.metrics ?? (spans ? DROP_METRICS : named);
  if (options.metrics?.includes(VERDICT_METRIC) === true && options.verdictField === undefined) {
    throw new ConfigError("USAGE", `--metrics ${VERDICT_METRIC}: needs --verdict-field.`);
  }
  const found = await answersById(options);
  const scores = scoreEach(
    found.map(([, answer]) => read(answer)),
    { normalization, metrics: named.filter((name) => asked.includes(name)) },
  );
  const wantsVerdicts =
    options.verdictField !== undefined && options.metrics?.includes(VERDICT_METRIC) !== false;
  return {
    rows: found.map(([id, { prediction, references, verdict }], i) => ({
      ...{ id, prediction, references },
      scores: { ...scores[i], ...(wantsVerdicts ? { [VERDICT_METRIC]: shareOf(verdict) } : {}) },
    })),
    shares: [VERDICT_METRIC, ...answerMetrics.parts.flatMap((m) => (m.isShare ? [m.name] : []))],
    normalization,
    unanswered: found.filter(([, { prediction }]) => prediction === null).length,
    notes: [],
  };
}

function shareOf(verdict: boolean | null | undefined): number | null {
  return verdict === undefined || verdict === null ? null : Number(verdict);
}

async function answersById(source: ScoreFileOptions): Promise<[id: string, ScoredAnswer][]> {
  if (source.references !== undefined || source.idField !== undefined) {
    return [...(await readPredictionsById(source))];
  }
  return (await readPredictions(source)).map((answer, i) => [String(i + 1), answer]);
}

async function scoreHotpotqaFile(options: ScoreFileOptions): Promise<ScoredFile> {
  const { predictions, references, normalization = "squad" } = options;
  if (references === undefined || normalization !== "squad") {
    throw new ConfigError(
      "USAGE",
      references === undefined
        ? "--layout hotpotqa: needs --references, the gold questions with their supporting facts."
        : `--layout hotpotqa: normalises by squad, not by ${normalization}: leave --normalization out.`,
    );
  }
  const { cases, hasFacts, unknown } = await readHotpotqaFiles(predictions, references);
  const known = hotpotqaMetrics.names.filter((name) => hasFacts || !name.includes("_"));
  const asked = known.filter((name) => options.metrics?.includes(name) ?? true);
  const lacking = (half: "answer" | "facts"): number =>
    cases.filter(({ predicted }) => predicted[half] === undefined).length;
  return {
    rows: cases.map(({ id, gold, predicted }) => {
      const scores = Object.entries(scoreHotpotqa(gold, predicted));
      return {
        ...{ id, prediction: predicted.answer ?? null, references: gold.references },
        scores: Object.fromEntries(scores.filter(([name]) => asked.includes(name))),
      };
    }),
    shares: hotpotqaMetrics.names.filter((name) => name.endsWith("em")),
    normalization,
    unanswered: lacking("answer"),
    notes: [
      ...(hasFacts ? [] : ['There is no "sp": supporting facts are not scored.']),
      ...(hasFacts && lacking("facts") > 0
        ? [`${lacking("facts")} of ${cases.length} have no supporting facts; they count as wrong.`]
        : []),
      ...(unknown > 0 ? [`${unknown} predictions are of questions that ${references} lacks.`] : []),
    ],
  };
}
