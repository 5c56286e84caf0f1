import type { EvaluationRow } from "../evaluation-row.ts";
import { type AnswerMetricName, answerMetrics } from "./answer-metrics.ts";
import { rowMetric, type RowMetric, sparseRowMetric } from "./row-metric.ts";

/** em, f1, … of a row, by the "squad" normalisation. */
function ofAnswer<const Name extends AnswerMetricName & keyof EvaluationRow>(
  name: Name,
  shown: { label?: string; headline?: true } = {},
): RowMetric<Name> & { always: true } {
  const { summary, source, isShare } = answerMetrics.get(name, "answer metric");
  const interval = isShare ? "wilson" : "bootstrap";
  return rowMetric({ name, summary, source, interval, ...shown, of: (row) => row[name] });
}

/** Metrics of the answers. */
export const answerRowMetrics = [
  ofAnswer("em", { label: "EM", headline: true }),
  ofAnswer("f1", { label: "F1", headline: true }),
  ofAnswer("precision"),
  ofAnswer("recall"),
  ofAnswer("cover_em", { label: "cover-EM", headline: true }),
  ofAnswer("token_cover"),
  ofAnswer("drop_em"),
  ofAnswer("drop_f1"),
] as const;

/** The policy's confidence, and whether it answered at all. */
export const answeringMetrics = [
  rowMetric({
    name: "answer_rate",
    label: "answered",
    headline: true,
    summary: "Share of questions with an answer.",
    of: ({ answer }) => Number(answer !== null),
  }),
  sparseRowMetric({
    name: "confidence",
    summary: "Mean confidence of the answers.",
    of: ({ confidence }) => confidence ?? null,
  }),
] as const;
