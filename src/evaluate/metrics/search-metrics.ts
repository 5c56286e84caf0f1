import { repeatedQueryShare } from "../../text/words.ts";
import { rowMetric, sparseRowMetric } from "./row-metric.ts";

/** Share of words in common from which two queries count as near duplicates. */
const NEAR = 0.8;

/** How the policy searched. */
export const searchMetrics = [
  rowMetric({
    ...{ name: "searches", headline: true },
    summary: "Searches per question; a strategy's own before the prompt is not one.",
    range: [0, Infinity],
    of: ({ searches }) => searches,
  }),
  rowMetric({
    name: "search_rate",
    summary: "Share of questions for which the policy searched at all.",
    of: ({ searches }) => Number(searches > 0),
  }),
  sparseRowMetric({
    name: "duplicate_query_rate",
    summary:
      "Share of a question's searches whose words an earlier one had in the same order (squad normalisation).",
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
    summary: "Of the questions that were not searched for, the share with a wrong answer (em).",
    source: "β-GRPO, arXiv 2505.17281, by questions instead of steps",
    of: ({ searches, em }) => (searches > 0 ? null : Number(em !== 1)),
  }),
] as const;

/** Words that both have, of all that either has; 1 for two without words. */
function jaccard(left: string, right: string): number {
  const a = new Set(left.split(" "));
  const b = new Set(right.split(" "));
  let shared = 0;
  for (const word of a) if (b.has(word)) shared += 1;
  return shared / (a.size + b.size - shared);
}
