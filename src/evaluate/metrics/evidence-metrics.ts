import type { EvaluationRow } from "../evaluation-row.ts";
import { sparseRowMetric } from "./row-metric.ts";

/** Search rounds with a metric of their own. */
const ROUNDS = [1, 2, 3, 4] as const;

/**
 * Whether the policy saw the gold passages, and how it used them. For questions with known gold passages; a strategy's search before the
 * prompt counts as shown.
 */
export const evidenceMetrics = [
  sparseRowMetric({
    name: "evidence_recall",
    summary: "Share of a question's gold passages that the policy was shown.",
    interval: "bootstrap",
    of: (row) => withEvidence(row, (seen, gold) => seen / gold),
  }),
  sparseRowMetric({
    name: "evidence_hit_rate",
    summary: "Share of questions of which the policy was shown a gold passage.",
    interval: "wilson",
    of: (row) => withEvidence(row, (seen) => Number(seen > 0)),
  }),
  sparseRowMetric({
    name: "evidence_all_rate",
    summary: "Share of questions of which the policy was shown every gold passage.",
    interval: "wilson",
    of: (row) => withEvidence(row, (seen, gold) => Number(seen === gold)),
  }),
  ...ROUNDS.map((round) =>
    sparseRowMetric({
      name: `evidence_recall_${round}`,
      summary: `Share of the gold passages shown by the end of search round ${round}, of questions with so many rounds.`,
      of: (row) => recallAfter(row, round),
    }),
  ),
  sparseRowMetric({
    name: "right_after_evidence_rate",
    summary: "Share of questions answered rightly (em) after all gold passages were shown.",
    of: (row) => withEvidence(row, (seen, gold) => Number(seen === gold && row.em === 1)),
  }),
  sparseRowMetric({
    name: "wrong_after_evidence_rate",
    summary: "Share of questions answered wrongly though all gold passages were shown.",
    of: (row) => withEvidence(row, (seen, gold) => Number(seen === gold && row.em !== 1)),
  }),
  sparseRowMetric({
    name: "right_without_evidence_rate",
    summary: "Share of questions answered rightly with a gold passage missing.",
    of: (row) => withEvidence(row, (seen, gold) => Number(seen < gold && row.em === 1)),
  }),
  sparseRowMetric({
    name: "answer_after_evidence",
    summary:
      "Of the questions whose gold passages were all shown, the share with a right answer (em).",
    of: (row) => withEvidence(row, (seen, gold) => (seen === gold ? row.em : null)),
  }),
  sparseRowMetric({
    name: "search_after_evidence_rate",
    summary:
      "Share of a question's search rounds that began with all gold passages shown: needless.",
    of: searchAfterEvidence,
  }),
] as const;

function withEvidence(
  { evidence }: EvaluationRow,
  of: (seen: number, gold: number) => number | null,
): number | null {
  if (evidence === undefined) return null;
  return of(evidence.seen.at(-1) ?? evidence.given, evidence.gold);
}

function recallAfter({ evidence }: EvaluationRow, round: number): number | null {
  const seen = evidence?.seen[round - 1];
  return evidence === undefined || seen === undefined ? null : seen / evidence.gold;
}

function searchAfterEvidence({ evidence }: EvaluationRow): number | null {
  if (evidence === undefined || evidence.seen.length === 0) return null;
  const { gold, given, seen } = evidence;
  const before = [given, ...seen.slice(0, -1)];
  return before.filter((count) => count === gold).length / seen.length;
}
