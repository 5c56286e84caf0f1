import { type Part, registry } from "../../base/registry.ts";
import {
  coverExactMatch,
  exactMatch,
  type Normalization,
  tokenCover,
  tokenF1,
} from "../../text/answers.ts";

/** A number from 0 to 1 for one predicted answer. */
export interface AnswerMetric extends Part {
  readonly name: AnswerMetricName;
  /** @param references accepted answers, at least one; the best counts. */
  score(prediction: string, references: readonly string[], normalization: Normalization): number;
}

/** Names of the metrics, as results spell them. */
export type AnswerMetricName = "em" | "f1" | "cover_em" | "token_cover";

/** All answer metrics, in the order of tables. */
export const answerMetrics = registry<AnswerMetric>("answer metric", [
  {
    name: "em",
    summary: "Share of answers that equal a reference after normalisation.",
    score: exactMatch,
  },
  {
    name: "f1",
    summary: "Mean F1 of the words of answer and reference (HotpotQA).",
    score: tokenF1,
  },
  {
    name: "cover_em",
    summary: "Share of answers that contain a reference after normalisation.",
    score: coverExactMatch,
  },
  {
    name: "token_cover",
    summary:
      "Share of answers that contain every word of a reference (R1-Searcher's rule accuracy).",
    score: (prediction, references) => tokenCover(prediction, references),
  },
]);

/** A predicted answer with the accepted ones. */
export interface ScoredAnswer {
  /** null: none was given; scored as empty text. */
  prediction: string | null;
  references: readonly string[];
}

/** Means over all answers. */
export interface AnswerScores {
  n: number;
  metrics: Record<AnswerMetricName, number>;
}

/**
 * The mean of every answer metric.
 *
 * @param answers at least one; each counts equally, unanswered ones as well.
 * @example scoreAnswers([{ prediction: "Oslo", references: ["oslo"] }, { prediction: null, references: ["Lima"] }])
 * // { n: 2, metrics: { em: 0.5, f1: 0.5, cover_em: 0.5, token_cover: 0.5 } }
 */
export function scoreAnswers(
  answers: readonly ScoredAnswer[],
  normalization: Normalization = "squad",
): AnswerScores {
  const mean = (metric: AnswerMetric): number => {
    let sum = 0;
    for (const { prediction, references } of answers) {
      sum += metric.score(prediction ?? "", references, normalization);
    }
    return sum / answers.length;
  };
  const metrics = answerMetrics.parts.map((metric) => [metric.name, mean(metric)] as const);
  return {
    n: answers.length,
    metrics: Object.fromEntries(metrics) as Record<AnswerMetricName, number>,
  };
}
