/** HotpotQA's own evaluation: answers, supporting facts, and both together. 2WikiMultihopQA's is the same without evidences. */
import { registry, type Part } from "../../base/registry.ts";
import { normalizeAnswer } from "../../text/answer-normalizations.ts";
import { wordOverlap } from "../../text/answers.ts";

/** A sentence of a passage: its title, and its number from 0. */
export type SupportingFact = { title: string; sentence: number };

/** Gold annotations of one question. */
export type HotpotqaQuestion = { references: readonly string[]; facts: readonly SupportingFact[] };

/** Its prediction; each half may be absent. */
export type HotpotqaPrediction = { answer?: string; facts?: readonly SupportingFact[] };

type Scores = { em: number; f1: number; precision: number; recall: number };

const SUBJECTS = ["", "sp_", "joint_"] as const;
const MEASURES = ["em", "f1", "precision", "recall"] as const;

/** Names of the metrics, as results spell them; the official script calls precision "prec". */
export type HotpotqaMetric = `${(typeof SUBJECTS)[number]}${(typeof MEASURES)[number]}`;

const WHAT: Record<HotpotqaMetric, string> = {
  em: "Share of answers that equal the gold answer after normalisation.",
  f1: "Mean F1 of the bags of words of both answers.",
  precision: "Mean share of the answer's words that the gold answer has.",
  recall: "Mean share of the gold answer's words that the answer has.",
  sp_em: "Share of questions whose set of supporting facts is predicted exactly.",
  sp_f1: "Mean F1 of the sets of supporting facts.",
  sp_precision: "Mean share of the predicted facts that are gold.",
  sp_recall: "Mean share of the gold facts that were predicted.",
  joint_em: "Mean of em · sp_em.",
  joint_f1: "Mean of the F1 that joint precision and recall give.",
  joint_precision: "Mean of precision · sp_precision.",
  joint_recall: "Mean of recall · sp_recall.",
};

/** The twelve metrics, in the order of tables. */
export const hotpotqaMetrics = registry<Part & { name: HotpotqaMetric }>(
  "HotpotQA metric",
  SUBJECTS.flatMap((subject) =>
    MEASURES.map((measure) => ({
      name: `${subject}${measure}` as const,
      summary: WHAT[`${subject}${measure}`],
    })),
  ),
);

/**
 * One question by HotpotQA's evaluation. A missing prediction scores 0. Facts are sets of (title, sentence); two empty sets have em 1 and the
 * rest 0. An answer's f1, precision and recall are 0 where one side is yes, no or noanswer and the other differs. Joint f1 is computed from
 * the products of precisions and recalls. The mean over a file divides by the number of gold questions.
 * Source: `hotpot_evaluate_v1.py`, arXiv 1809.09600. Different here: of several references the best counts, by f1 for precision and recall.
 * @example answer with precision 1, recall 1/2, facts 2/3, 1: // joint_precision 2/3, joint_recall 1/2, joint_f1 4/7
 */
export function scoreHotpotqa(
  { references, facts }: HotpotqaQuestion,
  prediction: HotpotqaPrediction,
): Record<HotpotqaMetric, number> {
  const answer =
    prediction.answer === undefined ? NOTHING : answerScores(prediction.answer, references);
  const support = prediction.facts === undefined ? NOTHING : factScores(prediction.facts, facts);
  const precision = answer.precision * support.precision;
  const recall = answer.recall * support.recall;
  const joint = { em: answer.em * support.em, f1: harmonic(precision, recall), precision, recall };
  return {
    ...answer,
    sp_em: support.em,
    sp_f1: support.f1,
    sp_precision: support.precision,
    sp_recall: support.recall,
    joint_em: joint.em,
    joint_f1: joint.f1,
    joint_precision: joint.precision,
    joint_recall: joint.recall,
  };
}

const NOTHING: Scores = { em: 0, f1: 0, precision: 0, recall: 0 };

function answerScores(answer: string, references: readonly string[]): Scores {
  const predicted = normalizeAnswer(answer);
  const accepted = references.map((reference) => normalizeAnswer(reference));
  return { em: Number(accepted.includes(predicted)), ...wordOverlap(predicted, accepted) };
}

function factScores(predicted: readonly SupportingFact[], gold: readonly SupportingFact[]): Scores {
  const left = new Set(predicted.map(keyOf));
  const right = new Set(gold.map(keyOf));
  let shared = 0;
  for (const key of left) if (right.has(key)) shared += 1;
  const precision = left.size === 0 ? 0 : shared / left.size;
  const recall = right.size === 0 ? 0 : shared / right.size;
  const em = Number(shared === left.size && shared === right.size);
  return { em, f1: harmonic(precision, recall), precision, recall };
}

function keyOf({ title, sentence }: SupportingFact): string {
  return `${sentence} ${title}`;
}

function harmonic(precision: number, recall: number): number {
  return precision + recall === 0 ? 0 : (2 * precision * recall) / (precision + recall);
}
