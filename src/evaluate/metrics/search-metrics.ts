import { repeatedQueryShare } from "../../text/words.ts";
import { rowMetric, sparseRowMetric } from "./row-metric.ts";

/** Share of common words from which two queries are near duplicates. */
const NEAR = 0.8;

/** Metrics of the policy's searches. */
export const searchMetrics = [
  rowMetric({
    name: "searches",
    headline: true,
    summary: "Searches per question, without a strategy's own before the prompt.",
    range: [0, Infinity],
    of: ({ searches }) => searches,
  }),
  sparseRowMetric({
    name: "strategy_searches",
    label: "strategy's searches",
    summary: "Searches per question by the strategy itself before the first message.",
    range: [0, Infinity],
    of: ({ strategySearches }) => strategySearches ?? null,
  }),
  rowMetric({
    name: "search_rate",
    summary: "Share of questions with at least one search.",
    of: ({ searches }) => Number(searches > 0),
  }),
  sparseRowMetric({
    name: "duplicate_query_rate",
    summary: "Share of a question's searches that repeat an earlier query (squad normalisation).",
    of: ({ queries }) => repeatedQueryShare(queries),
  }),
  sparseRowMetric({
    name: "near_duplicate_query_rate",
    summary:
      "Share of a question's searches that have at least 0.8 of all words in common with an earlier one (Jaccard).",
    of: ({ queries }) =>
      repeatedQueryShare(queries, (query, earlier) =>
        earlier.some((each) => jaccard(query, each) >= NEAR),
      ),
  }),
  sparseRowMetric({
    name: "under_search_rate",
    summary: "Of the questions without a search, the share with a wrong answer (em).",
    source: "β-GRPO, arXiv 2505.17281, by questions instead of steps",
    of: ({ searches, em }) => (searches > 0 ? null : Number(em !== 1)),
  }),
] as const;

/** Jaccard similarity of the words; 1 if both have none. */
function jaccard(left: string, right: string): number {
  const a = new Set(left.split(" "));
  const b = new Set(right.split(" "));
  let shared = 0;
  for (const word of a) if (b.has(word)) shared += 1;
  return shared / (a.size + b.size - shared);
}
