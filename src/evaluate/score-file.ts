import { ConfigError } from "../base/errors.ts";
import { type Part, registry } from "../base/registry.ts";
import { AnswerDoubts } from "../data/answer-doubts.ts";
import { type Normalization, normalizeAnswer } from "../text/answer-normalizations.ts";
import { ircotSpans } from "../text/drop-answers.ts";
import { type ScoredAnswer, answerMetrics } from "./metrics/answer-metrics.ts";
import { hotpotqaMetrics, scoreHotpotqa } from "./metrics/hotpotqa-official.ts";
import { scoreSquadV2, squadV2Metrics } from "./metrics/squad-v2-official.ts";
import { type PredictionSource, readHotpotqaFiles, readPredictionRows } from "./predictions.ts";
import { type ScoreValues, scoreEach } from "./score-answers.ts";

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
  shares: readonly string[];
  normalization: Normalization;
  unanswered: number;
  notes: string[];
}

/** One answer of a predictions file and its scores. */
export interface ScoredRow {
  /** The id that joined two files, else the answer's own id or its number from 1. */
  id: string;
  prediction: ScoredAnswer["prediction"];
  references: readonly string[];
  scores: ScoreValues;
}

interface ScoreLayout extends Part {
  readonly metrics: readonly string[];
  score(options: ScoreFileOptions): Promise<ScoredFile>;
}

/** Default for files of answers: it gives the published numbers of R1-Searcher's and IRCoT's files. `eval` and rewards use "squad". */
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

const squadV2: ScoreLayout = {
  name: "squad_v2",
  summary:
    "As SQuAD 2.0 evaluates: questions may have no answer (an empty list), and then an empty prediction is right; also reads its own files.",
  metrics: squadV2Metrics.names,
  score: scoreSquadV2File,
};

/** All kinds of predictions files. */
export const scoreLayouts = registry<ScoreLayout>("layout", [answers, hotpotqa, ircot, squadV2]);

async function scoreAnswerFile(
  options: ScoreFileOptions,
  read: (answer: ScoredAnswer) => ScoredAnswer,
): Promise<ScoredFile> {
  const { normalization = DEFAULT_NORMALIZATION, spans = false } = options;
  const named = answerMetrics.parts.map(({ name }) => name);
  const asked = options.metrics ?? (spans ? DROP_METRICS : named);
  if (options.metrics?.includes(VERDICT_METRIC) === true && options.verdictField === undefined)
    throw new ConfigError("USAGE", `--metrics ${VERDICT_METRIC}: needs --verdict-field.`);
  const doubts = new AnswerDoubts();
  const found = await readPredictionRows({ ...options, doubts });
  const scores = scoreEach(
    found.map(([, answer]) => read(answer)),
    { normalization, metrics: named.filter((name) => asked.includes(name)) },
  );
  const wantsVerdicts =
    options.verdictField !== undefined && options.metrics?.includes(VERDICT_METRIC) !== false;
  return {
    rows: found.map(([id, { prediction, references, verdict }], i) => ({
      id,
      prediction,
      references,
      scores: { ...scores[i], ...(wantsVerdicts ? { [VERDICT_METRIC]: shareOf(verdict) } : {}) },
    })),
    shares: [VERDICT_METRIC, ...answerMetrics.parts.flatMap((m) => (m.isShare ? [m.name] : []))],
    normalization,
    unanswered: found.filter(([, { prediction }]) => prediction === null).length,
    notes: [
      ...(spans ? [] : doubts.notices()),
      ...unanswerableNote(found.map(([, { references }]) => references)),
    ],
  };
}

/** The metrics of other benchmarks have no right score for a question without an answer. */
function unanswerableNote(all: readonly (readonly string[])[]): string[] {
  const count = all.filter((texts) => texts.every((text) => normalizeAnswer(text) === "")).length;
  if (count === 0) return [];
  return [
    `${count} of ${all.length} questions have no accepted answer except an empty one: f1, precision and recall are 0 for them. --layout squad_v2 scores them as SQuAD 2.0 does.`,
  ];
}

function shareOf(verdict: boolean | null | undefined): number | null {
  return verdict === undefined || verdict === null ? null : Number(verdict);
}

async function scoreSquadV2File(options: ScoreFileOptions): Promise<ScoredFile> {
  const { normalization = "squad", metrics = squadV2Metrics.names } = options;
  if (normalization !== "squad" || options.spans === true || options.verdictField !== undefined) {
    const message =
      "--layout squad_v2: normalises by squad and compares texts: leave --normalization, --spans and --verdict-field out.";
    throw new ConfigError("USAGE", message);
  }
  const doubts = new AnswerDoubts();
  const found = await readPredictionRows({ ...options, doubts, unanswerable: true });
  return {
    rows: found.map(([id, { prediction, references }]) => {
      const text = typeof prediction === "string" ? prediction : null;
      const scores = Object.entries(scoreSquadV2(text, references));
      const asked = scores.filter(([name]) => metrics.includes(name));
      return { id, prediction, references, scores: Object.fromEntries(asked) };
    }),
    shares: squadV2Metrics.names.filter((name) => name.endsWith("em")),
    normalization,
    unanswered: found.filter(([, { prediction }]) => prediction === null).length,
    notes: doubts.notices(),
  };
}

async function scoreHotpotqaFile(options: ScoreFileOptions): Promise<ScoredFile> {
  const { predictions, references, normalization = "squad" } = options;
  if (references === undefined || normalization !== "squad")
    throw new ConfigError(
      "USAGE",
      references === undefined
        ? "--layout hotpotqa: needs --references, the gold questions with their supporting facts."
        : `--layout hotpotqa: normalises by squad, not by ${normalization}: leave --normalization out.`,
    );
  const { cases, hasFacts, unknown } = await readHotpotqaFiles(predictions, references);
  const known = hotpotqaMetrics.names.filter((name) => hasFacts || !name.includes("_"));
  const asked = known.filter((name) => options.metrics?.includes(name) ?? true);
  const lacking = (half: "answer" | "facts"): number =>
    cases.filter(({ predicted }) => predicted[half] === undefined).length;
  return {
    rows: cases.map(({ id, gold, predicted }) => {
      const scores = Object.entries(scoreHotpotqa(gold, predicted));
      return {
        id,
        prediction: predicted.answer ?? null,
        references: gold.references,
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
