/** SQuAD 2.0's own evaluation: some questions have no answer, and then an empty prediction is the right one. */
import { type Part, registry } from "../../base/registry.ts";
import { normalizeAnswer } from "../../text/answer-normalizations.ts";
import { bagOverlap } from "../../text/answers.ts";

const SUBSETS = ["", "has_answer_", "no_answer_"] as const;
const MEASURES = ["em", "f1"] as const;

/** Names of the metrics; the official script calls them exact, f1, HasAns_exact, … in percent. */
export type SquadV2Metric = `${(typeof SUBSETS)[number]}${(typeof MEASURES)[number]}`;

const WHAT: Record<(typeof MEASURES)[number], string> = {
  em: "Share of answers that equal a reference after normalisation",
  f1: "Mean F1 of the bags of words of answer and reference",
};

const OF: Record<(typeof SUBSETS)[number], string> = {
  "": "over all questions; for a question without an answer, 1 if the prediction is empty.",
  has_answer_: "over the questions that have an answer.",
  no_answer_: "over the questions without an answer: 1 if the prediction is empty.",
};

/** The six metrics, in the order of tables. */
export const squadV2Metrics = registry<Part & { name: SquadV2Metric }>(
  "SQuAD 2.0 metric",
  SUBSETS.flatMap((subset) =>
    MEASURES.map((measure) => ({
      name: `${subset}${measure}` as const,
      summary: `${WHAT[measure]}, ${OF[subset]}`,
    })),
  ),
);

/**
 * One question by SQuAD 2.0's evaluation, normalised as in v1.1; references that are empty then (".") are dropped, and without any other
 * there is no answer. If the prediction or the reference is empty, f1 is 1 when both are, else 0. The best reference counts per metric.
 * @param prediction null: none; scores 0. @returns null for the metrics of the other subset.
 * Source: `evaluate-v2.0.py`, arXiv 1806.03822, without thresholds; the script leaves questions without a prediction out of the mean.
 * @example scoreSquadV2("", []).f1 // 1: rightly unanswered; scoreSquadV2("the cat", ["cats"]) // em 0, f1 0
 */
export function scoreSquadV2(
  prediction: string | null,
  references: readonly string[],
): Record<SquadV2Metric, number | null> {
  const accepted = references.map((text) => normalizeAnswer(text)).filter((text) => text !== "");
  const { em, f1 } = prediction === null ? { em: 0, f1: 0 } : best(prediction, accepted);
  const isAnswerable = accepted.length > 0;
  return {
    em,
    f1,
    has_answer_em: isAnswerable ? em : null,
    has_answer_f1: isAnswerable ? f1 : null,
    no_answer_em: isAnswerable ? null : em,
    no_answer_f1: isAnswerable ? null : f1,
  };
}

function best(prediction: string, accepted: readonly string[]): { em: number; f1: number } {
  const predicted = normalizeAnswer(prediction);
  if (accepted.length === 0) {
    const isEmpty = Number(predicted === "");
    return { em: isEmpty, f1: isEmpty };
  }
  return {
    em: Number(accepted.includes(predicted)),
    // Unlike in HotpotQA's evaluation, yes and no are words like any other.
    f1: Math.max(...accepted.map((reference) => bagOverlap(predicted, reference).f1)),
  };
}
