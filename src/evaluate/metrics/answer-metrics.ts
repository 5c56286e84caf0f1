import { once } from "../../base/once.ts";
import { type Part, registry } from "../../base/registry.ts";
import { type Normalization, normalizeAnswer } from "../../text/answer-normalizations.ts";
import { type WordOverlap, coversText, coversWords, wordOverlap } from "../../text/answers.ts";
import { type DropScores, dropScores } from "../../text/drop-answers.ts";
import { mentionsIn } from "../../text/words.ts";

/** A predicted answer with the accepted ones. */
export interface ScoredAnswer {
  prediction: string | readonly string[] | null;
  references: readonly string[];
  /** Whether the references are the spans of one accepted answer; absent: they are alternatives. */
  spans?: boolean;
  /** An external verdict; null: none. */
  verdict?: boolean | null;
}

/** A number from 0 to 1 for one predicted answer. */
export interface AnswerMetric extends Part {
  readonly name: AnswerMetricName;
  /** Whether it is a share of right answers, so that Wilson's interval fits. */
  readonly isShare: boolean;
  readonly source: string;
  readonly normalization: Normalization | null;
  /** null if it is not defined, as most metrics for answers of several spans. */
  of(answer: ReadAnswer): number | null;
}

/** Names of the metrics, as results spell them. */
export type AnswerMetricName =
  | "em"
  | "f1"
  | "precision"
  | "recall"
  | "cover_em"
  | "token_cover"
  | "drop_em"
  | "drop_f1"
  | "drop_precision"
  | "drop_recall";

/** An answer prepared for metrics: shared intermediate results are computed once. */
interface ReadAnswer {
  plain: { predicted: string; accepted: readonly string[] } | null;
  /** Normalised by "words"; null for spans. */
  spelledApart: { predicted: string; accepted: readonly string[] } | null;
  overlap: () => WordOverlap;
  drop: () => DropScores;
}

const HOTPOTQA = "HotpotQA's hotpot_evaluate_v1.py";
const DROP = "AllenNLP's DROP evaluation, as StonyBrookNLP/ircot applies it";

/** All answer metrics, in the order of tables. */
export const answerMetrics = registry<AnswerMetric>("answer metric", [
  {
    name: "em",
    isShare: true,
    normalization: null,
    source: "SQuAD v1.1",
    summary: "Share of answers that equal a reference after normalisation.",
    of: ({ plain }) => plain && Number(plain.accepted.includes(plain.predicted)),
  },
  {
    name: "f1",
    isShare: false,
    normalization: null,
    source: HOTPOTQA,
    summary: "Mean F1 of the words of answer and reference (HotpotQA).",
    of: ({ plain, overlap }) => plain && overlap().f1,
  },
  {
    name: "precision",
    isShare: false,
    normalization: null,
    source: HOTPOTQA,
    summary: "Mean share of the answer's words that the reference of best F1 has.",
    of: ({ plain, overlap }) => plain && overlap().precision,
  },
  {
    name: "recall",
    isShare: false,
    normalization: null,
    source: HOTPOTQA,
    summary: "Mean share of the words of the reference of best F1 that the answer has.",
    of: ({ plain, overlap }) => plain && overlap().recall,
  },
  {
    name: "cover_em",
    isShare: true,
    normalization: null,
    source: "cover EM, sub EM",
    summary: "Share of answers that contain a reference after normalisation.",
    of: ({ plain }) => plain && coversText(plain.predicted, plain.accepted),
  },
  {
    name: "token_cover",
    isShare: true,
    normalization: "words",
    source: "R1-Searcher's ACC_R, arXiv 2503.05592",
    summary:
      "Share of answers that contain every word of a reference (R1-Searcher's rule accuracy).",
    of: ({ spelledApart: apart }) => apart && coversWords(apart.predicted, apart.accepted),
  },
  {
    name: "drop_em",
    isShare: true,
    normalization: "drop",
    source: DROP,
    summary: "Share of answers whose spans are the reference's, as DROP's evaluation reads them.",
    of: ({ drop }) => drop().em,
  },
  {
    name: "drop_f1",
    isShare: false,
    normalization: "drop",
    source: DROP,
    summary: "Mean F1 of the sets of words of aligned spans, to two places each (DROP, IRCoT).",
    of: ({ drop }) => drop().f1,
  },
  {
    name: "drop_precision",
    isShare: false,
    normalization: "drop",
    source: DROP,
    summary: "Mean precision beside drop_f1.",
    of: ({ drop }) => drop().precision,
  },
  {
    name: "drop_recall",
    isShare: false,
    normalization: "drop",
    source: DROP,
    summary: "Mean recall beside drop_f1.",
    of: ({ drop }) => drop().recall,
  },
]);

/**
 * One answer (at least one reference) by every metric; null where it is not defined. `normalization`: for metrics without their own.
 * @example answerScores({ prediction: "Oslo fjord", references: ["oslo"] }).f1 // 2 · (1/2) · 1 / (3/2) = 2/3
 */
export function answerScores(
  answer: ScoredAnswer,
  normalization: Normalization = "squad",
): Record<AnswerMetricName, number | null> {
  const read = readAnswer(answer, normalization);
  const scores = {} as Record<AnswerMetricName, number | null>;
  for (const metric of answerMetrics.parts) scores[metric.name] = metric.of(read);
  return scores;
}

function readAnswer(answer: ScoredAnswer, normalization: Normalization): ReadAnswer {
  const { references, spans = false } = answer;
  const prediction = answer.prediction ?? "";
  const by = (name: Normalization): ReadAnswer["plain"] => {
    if (spans || typeof prediction !== "string") return null;
    return {
      predicted: normalizeAnswer(prediction, name),
      accepted: references.map((reference) => normalizeAnswer(reference, name)),
    };
  };
  const plain = by(normalization);
  return {
    plain,
    spelledApart: normalization === "words" ? plain : by("words"),
    overlap: once(() => wordOverlap(plain?.predicted ?? "", plain?.accepted ?? [])),
    drop: once(() => dropScores(prediction, spans ? [references] : references)),
  };
}

/** Where a question's answer can come from: yes and no from a guess, the question's own words from copying, the rest only from reading or memory. */
export const ANSWER_KINDS = ["yes-no", "in-question", "open"] as const;

export type AnswerKind = (typeof ANSWER_KINDS)[number];

/**
 * Whether a reference is yes or no, or stands in the question; "open" only if none can be guessed or copied.
 * @example answerKind("Which is older, Oslo or Bergen?", ["Bergen"]) // "in-question"
 */
export function answerKind(question: string, references: readonly string[]): AnswerKind {
  const isGuess = (text: string): boolean => ["yes", "no"].includes(normalizeAnswer(text));
  if (references.some(isGuess)) return "yes-no";
  return references.some(mentionsIn(question)) ? "in-question" : "open";
}
