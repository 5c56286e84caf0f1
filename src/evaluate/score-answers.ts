import type { Normalization } from "../text/answer-normalizations.ts";
import { type FigureValues, type IntervalMethod, intervalsOf } from "./intervals.ts";
import {
  type AnswerMetricName,
  answerMetrics,
  answerScores,
  type ScoredAnswer,
} from "./metrics/answer-metrics.ts";
import { mean } from "../base/statistics.ts";
import type { Interval } from "./statistics.ts";

/** A number for each requested metric; null if not defined. */
export type ScoreValues = Record<string, number | null>;

/** Means over answers. */
export interface AnswerScores {
  n: number;
  /** By metric, over the answers for which it is defined; a metric defined for none is absent. */
  metrics: Record<string, number>;
  intervals: Record<string, Interval>;
  /** Wilson's score interval for shares of right answers, else a bootstrap over answers. */
  intervalMethods: Record<string, IntervalMethod>;
}

export type ScoreOptions = { normalization?: Normalization; metrics?: readonly AnswerMetricName[] };

/** Each answer by each metric. @example scoreEach([{ prediction: "Oslo", references: ["oslo"] }], { metrics: ["em"] }) // [{ em: 1 }] */
export function scoreEach(
  answers: readonly ScoredAnswer[],
  { normalization = "squad", metrics = answerMetrics.parts.map(({ name }) => name) }: ScoreOptions,
): ScoreValues[] {
  return answers.map((answer) => {
    const scores = answerScores(answer, normalization);
    return Object.fromEntries(metrics.map((name) => [name, scores[name]]));
  });
}

/**
 * Sums up scores of answers: at least one, all of the same metrics. @param shares the metrics that are 0 or 1. @param seed of the bootstrap.
 * @example summarizeScores([{ em: 1 }, { em: 0 }], { shares: ["em"], seed: 0 }).metrics // { em: 0.5 }
 */
export function summarizeScores(
  scores: readonly ScoreValues[],
  { shares, seed }: { shares: readonly string[]; seed: number },
): AnswerScores {
  const figures = Object.keys(scores[0] ?? {}).flatMap((name): FigureValues[] => {
    const values = scores.flatMap((each) => each[name] ?? []);
    const method = shares.includes(name) ? "wilson" : "bootstrap";
    return values.length === 0 ? [] : [{ name, values, method }];
  });
  return {
    n: scores.length,
    metrics: Object.fromEntries(figures.map(({ name, values }) => [name, mean(values)])),
    ...intervalsOf(figures, { seed }),
  };
}

/**
 * The mean of every answer metric over at least one answer; unanswered ones count equally.
 * @example scoreAnswers([{ prediction: "Oslo", references: ["oslo"] }, { prediction: null, references: ["Lima"] }]).metrics // em 0.5
 */
export function scoreAnswers(
  answers: readonly ScoredAnswer[],
  options: ScoreOptions & { seed?: number } = {},
): AnswerScores {
  const shares = answerMetrics.parts.filter(({ isShare }) => isShare).map(({ name }) => name);
  return summarizeScores(scoreEach(answers, options), { shares, seed: options.seed ?? 0 });
}
