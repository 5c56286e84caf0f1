import { ConfigError } from "../base/errors.ts";
import { type Part, registry } from "../base/registry.ts";
import { suggest } from "../base/nearest.ts";

/** One query's ranking for metrics. */
export interface JudgedRanking {
  /** Relevance of each hit, best hit first; 0 if not relevant. */
  gains: readonly number[];
  /** Relevances of all relevant passages, found or not, highest first; at least one. */
  ideal: readonly number[];
}

interface MetricFamily extends Part {
  /** Whether `@k` must follow the name, may, or cannot. */
  readonly cutoff: "required" | "optional" | "none";
  /** @param k cutoff; Infinity without one. */
  of(ranking: JudgedRanking, k: number): number;
}

/** All retrieval metrics, as in trec_eval if it has them; a different trec_eval name is in parentheses. */
const families = registry<MetricFamily>("retrieval metric", [
  {
    name: "ndcg",
    summary: "Gains discounted by log2(rank + 1), over those of the ideal ranking (ndcg_cut).",
    cutoff: "optional",
    of: ({ gains, ideal }, k) => discounted(gains.slice(0, k)) / discounted(ideal.slice(0, k)),
  },
  {
    name: "recall",
    summary: "Share of the relevant passages that are among the first k.",
    cutoff: "required",
    of: (ranking, k) => found(ranking, k) / ranking.ideal.length,
  },
  {
    name: "precision",
    summary: "Share of the first k hits that are relevant (P).",
    cutoff: "required",
    of: (ranking, k) => found(ranking, k) / k,
  },
  {
    name: "map",
    summary: "Mean precision at each relevant passage, 0 if not found (map_cut with @k).",
    cutoff: "optional",
    of: averagePrecision,
  },
  {
    name: "mrr",
    summary: "1 / rank of the first relevant passage (recip_rank).",
    cutoff: "optional",
    of({ gains }, k) {
      const first = gains.slice(0, k).findIndex((gain) => gain > 0);
      return first === -1 ? 0 : 1 / (first + 1);
    },
  },
  {
    name: "hit",
    summary: "1 if a relevant passage is among the first k (success).",
    cutoff: "required",
    of: (ranking, k) => Number(found(ranking, k) > 0),
  },
  {
    name: "support",
    summary:
      "1 if every relevant passage is among the first k: all that a multi-hop question needs.",
    cutoff: "required",
    of: (ranking, k) => Number(found(ranking, k) === ranking.ideal.length),
  },
  {
    name: "rprec",
    summary: "Precision at R, the number of relevant passages (Rprec).",
    cutoff: "none",
    of: (ranking) => found(ranking, ranking.ideal.length) / ranking.ideal.length,
  },
]);

/** Names of all metrics; k stands for a number. */
export const retrievalMetricNames: readonly string[] = families.parts.flatMap(
  ({ name, cutoff }) => {
    if (cutoff === "none") return [name];
    return cutoff === "required" ? [`${name}@k`] : [name, `${name}@k`];
  },
);

/** A metric with its cutoff. */
export interface RetrievalMetric {
  name: string;
  cutoff: number | null;
  of(ranking: JudgedRanking): number;
}

/** The default metrics. */
export const DEFAULT_RETRIEVAL_METRICS = ["ndcg@10", "recall@10", "recall@100", "mrr@10", "hit@5"];

/** The metric of a name such as `ndcg@10` or `map`. @param where flag or key, for the message. @throws {ConfigError} USAGE */
export function retrievalMetric(name: string, where: string): RetrievalMetric {
  const { family = "", cut } = /^(?<family>[^@]*)(?:@(?<cut>.*))?$/.exec(name)?.groups ?? {};
  const part = families.parts.find((candidate) => candidate.name === family);
  const fits =
    cut === undefined
      ? part?.cutoff !== "required"
      : part?.cutoff !== "none" && /^[1-9]\d{0,8}$/.test(cut);
  if (part === undefined || !fits) {
    const message = `${where} names "${name}": no such retrieval metric; k is a whole number from 1. ${suggest(name, retrievalMetricNames)}`;
    throw new ConfigError("USAGE", message);
  }
  const cutoff = cut === undefined ? null : Number(cut);
  return { name, cutoff, of: (ranking) => part.of(ranking, cutoff ?? Infinity) };
}

/**
 * The metrics of one ranking, best first. @param relevances at least one above 0; a negative one counts as 0.
 * @example rankingMetrics(["x", "y"], new Map([["y", 1]]), [retrievalMetric("ndcg@10", "")]) // 1 / log2(3) = .6309
 */
export function rankingMetrics(
  ids: readonly string[],
  relevances: ReadonlyMap<string, number>,
  metrics: readonly RetrievalMetric[],
): Record<string, number> {
  const ranking = judgedRanking(ids, relevances);
  return Object.fromEntries(metrics.map((metric) => [metric.name, metric.of(ranking)]));
}

function judgedRanking(
  ids: readonly string[],
  relevances: ReadonlyMap<string, number>,
): JudgedRanking {
  return {
    gains: ids.map((id) => Math.max(0, relevances.get(id) ?? 0)),
    ideal: [...relevances.values()].filter((gain) => gain > 0).sort((a, b) => b - a),
  };
}

function found({ gains }: JudgedRanking, k: number): number {
  return gains.slice(0, k).filter((gain) => gain > 0).length;
}

function discounted(gains: readonly number[]): number {
  return gains.reduce((sum, gain, i) => sum + gain / Math.log2(i + 2), 0);
}

function averagePrecision({ gains, ideal }: JudgedRanking, k: number): number {
  let relevant = 0;
  let sum = 0;
  for (const [i, gain] of gains.slice(0, k).entries()) {
    if (gain <= 0) continue;
    relevant += 1;
    sum += relevant / (i + 1);
  }
  return sum / ideal.length;
}
