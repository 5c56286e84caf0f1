import { registry } from "../../base/registry.ts";
import { repeatedQueryShare } from "../../text/words.ts";
import type { EvaluationRow } from "../evaluation-row.ts";
import { type AnswerMetricName, answerMetrics } from "./answer-metrics.ts";
import { type RowMetric, rowMetric, sparseRowMetric } from "./row-metric.ts";

const NEAR = 0.8;

const searchMetrics = [
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

function jaccard(left: string, right: string): number {
  const a = new Set(left.split(" "));
  const b = new Set(right.split(" "));
  let shared = 0;
  for (const word of a) if (b.has(word)) shared += 1;
  return shared / (a.size + b.size - shared);
}

const messageMetrics = [
  rowMetric({
    name: "format_rate",
    label: "parsed",
    headline: true,
    summary:
      "Share of trajectories that have a message and all of whose messages are valid actions.",
    of: ({ formatOk }) => Number(formatOk),
  }),
  rowMetric({
    name: "turns",
    headline: true,
    summary: "Messages per question.",
    range: [0, Infinity],
    of: ({ turns }) => turns,
  }),
  sparseRowMetric({
    name: "invalid_action_rate",
    summary:
      "Share of a question's messages that are no valid action: unread, or all of whose calls failed.",
    of: ({ turns, invalidTurns }) => (turns === 0 ? null : invalidTurns / turns),
  }),
  sparseRowMetric({
    name: "return",
    decimals: 3,
    headline: true,
    summary: "What the environment paid over an episode, on average.",
    range: [-Infinity, Infinity],
    interval: "bootstrap",
    of: ({ return: paid }) => paid ?? null,
  }),
  rowMetric({
    name: "turn_limit_rate",
    summary: "Share of trajectories that ended at the turn limit.",
    of: ({ end }) => Number(end === "turn-limit"),
  }),
  sparseRowMetric({
    name: "cut_message_rate",
    summary: "Share of trajectories with a message that ended at its most tokens.",
    of: ({ cuts }) => (cuts === undefined ? null : Number(cuts.messages > 0)),
  }),
  sparseRowMetric({
    name: "cut_observation_rate",
    summary: "Share of trajectories with an observation that the policy saw only in part.",
    of: ({ cuts }) => (cuts === undefined ? null : Number(cuts.observations > 0)),
  }),
  sparseRowMetric({
    name: "cut_context_rate",
    summary: "Share of trajectories that a full context ended or shortened.",
    of: ({ cuts }) => (cuts === undefined ? null : Number(cuts.context)),
  }),
  sparseRowMetric({
    name: "completion_tokens",
    label: "tokens",
    decimals: 1,
    headline: true,
    summary: "Tokens written per question, if recorded or counted by a server.",
    range: [0, Infinity],
    of: ({ tokens }) => tokens ?? null,
  }),
  sparseRowMetric({
    name: "first_answer",
    summary: "Share of what the policy wrote that stands before its first answer.",
    source: "time to first token, arXiv 2505.19640, in characters instead of tokens",
    of: ({ firstAnswer }) => firstAnswer ?? null,
  }),
  sparseRowMetric({
    name: "prompt_tokens",
    decimals: 1,
    summary: "Tokens read per question, over all calls, if recorded or counted by a server.",
    range: [0, Infinity],
    of: ({ promptTokens }) => promptTokens ?? null,
  }),
] as const;

const ROUNDS = [1, 2, 3, 4] as const;

/** Whether the policy saw the gold passages (a strategy's search before the prompt counts), and how it used them. */
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

function ofAnswer<const Name extends AnswerMetricName & keyof EvaluationRow>(
  name: Name,
  shown: { label?: string; headline?: true } = {},
): RowMetric<Name> & { always: true } {
  const { summary, source, isShare } = answerMetrics.get(name, "answer metric");
  const interval = isShare ? "wilson" : "bootstrap";
  return rowMetric({ name, summary, source, interval, ...shown, of: (row) => row[name] });
}

const answerRowMetrics = [
  ofAnswer("em", { label: "EM", headline: true }),
  ofAnswer("f1", { label: "F1", headline: true }),
  ofAnswer("precision"),
  ofAnswer("recall"),
  ofAnswer("cover_em", { label: "cover-EM", headline: true }),
  ofAnswer("token_cover"),
  ofAnswer("drop_em"),
  ofAnswer("drop_f1"),
] as const;

const answeringMetrics = [
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

const always = [...answerRowMetrics, ...answeringMetrics, ...searchMetrics, ...messageMetrics];

/** Names of the metrics that every evaluation has. */
export type CoreMetric = Extract<(typeof always)[number], { always: true }>["name"];

/** All metrics of rows, in the order of results. */
export const rowMetrics = registry<RowMetric>("row metric", [...always, ...evidenceMetrics]);
