import type { EvaluationMetric, GroupSummary } from "../evaluate/evaluation-summary.ts";
import type { MetricValues } from "../evaluate/metrics/metric-sums.ts";
import type { Interval } from "../evaluate/statistics.ts";
import type { EvaluationTimings } from "../evaluate/timings.ts";
import type { MeterReading } from "../http/meter.ts";
import type { EvalResult } from "../recipe/run-eval.ts";
import { table } from "./table.ts";

/** Columns of the table: heading, metric, decimals. */
const COLUMNS: readonly (readonly [string, EvaluationMetric | "completion_tokens", number])[] = [
  ["EM", "em", 3],
  ["F1", "f1", 3],
  ["cover-EM", "cover_em", 3],
  ["searches", "searches", 2],
  ["answered", "answer_rate", 3],
  ["format", "format_rate", 3],
  ["turns", "turns", 2],
  ["tokens", "completion_tokens", 1],
];

/** Said wherever numbers are shown that a policy owes to its questions' gold. */
export const READS_GOLD =
  "What was searched looks at the questions' gold: these numbers are a control, not a result.";

/** An evaluation for people: what was measured, a row for all questions and for each group, the intervals. */
export function evaluationText(result: EvalResult): string {
  const { n, metrics, groups, samplesPerTask, seed } = result;
  const groupRows = [...Object.entries(groups.hops), ...Object.entries(groups.type)];
  const drawn = samplesPerTask > 1 ? `, ${samplesPerTask} draws each` : "";
  return [
    `${result.policy.from} on ${result.dataset}, strategy ${result.strategy}: ${n} questions${drawn}, seed ${seed}`,
    "",
    table(
      [
        metricRow("all", { n, metrics }),
        ...groupRows.map(([name, group]) => metricRow(name, group)),
      ],
      {
        head: ["", "n", ...COLUMNS.map(([head]) => head)],
        align: ["left", ...Array<"right">(COLUMNS.length + 1).fill("right")],
      },
    ),
    "",
    ...drawRows(metrics),
    ...evidenceRow(metrics),
    `95 % intervals over questions: ${intervalsText(result)}`,
    "searches, turns, tokens: per question; answered, format: share of questions",
    `recipe ${result.recipe.name}, tier ${result.recipe.tier}; protocol ${result.fingerprint}`,
    ...(result.readsGold ? [READS_GOLD] : []),
  ].join("\n");
}

function metricRow(name: string, { n, metrics }: GroupSummary): string[] {
  return [name, String(n), ...COLUMNS.map(([, key, digits]) => numberText(metrics[key], digits))];
}

/** Where nothing could be measured there is no number. */
function numberText(value = NaN, digits = 3): string {
  return Number.isNaN(value) ? "–" : value.toFixed(digits);
}

/** avg@k and pass@k, where there are several draws. */
function drawRows(metrics: MetricValues): string[] {
  const drawn = Object.entries(metrics).filter(([name]) => name.includes("@"));
  if (drawn.length === 0) return [];
  return [drawn.map(([name, value]) => `${name} ${value.toFixed(3)}`).join("  "), ""];
}

/** What was shown of the gold passages and what came of it, where they are known. */
function evidenceRow(metrics: MetricValues): string[] {
  const { evidence_recall: recall, evidence_all_rate: all, answer_after_evidence: right } = metrics;
  if (recall === undefined || all === undefined) return [];
  const then = right === undefined ? "" : `; of these ${right.toFixed(3)} right`;
  return [
    `gold passages shown: ${recall.toFixed(3)}; all of them for ${all.toFixed(3)} of questions${then}`,
  ];
}

function intervalsText({ intervals, intervalMethods }: EvalResult): string {
  const shown = ([low, high]: Interval): string => `${numberText(low)} – ${numberText(high)}`;
  return [
    `EM ${shown(intervals.em)} (${intervalMethods.em})`,
    `F1 ${shown(intervals.f1)} (${intervalMethods.f1})`,
  ].join(", ");
}

/** How long an evaluation took, and what a server was asked, for people. */
export function timingsText(
  { seconds, questionsPerSecond, model, search }: EvaluationTimings,
  requests: MeterReading | undefined,
): string {
  const ms = (value: number): string => `${value.toFixed(value < 10 ? 1 : 0)} ms`;
  const parts = [
    `${seconds.toFixed(1)} s, ${questionsPerSecond.toFixed(1)} questions/s`,
    ...(model === null ? [] : [`policy ${ms(model.mean)} a question`]),
    ...(search === null ? [] : [`tools ${ms(search.mean)}`]),
  ];
  if (requests === undefined) return parts.join("; ");
  const { retries, failed, promptTokens, completionTokens, cost, firstTokenMs } = requests;
  const uncounted = requests.uncounted === 0 ? "" : ` (${requests.uncounted} replies not counted)`;
  const thousand = (count: number): string => count.toLocaleString("en").replaceAll(",", " ");
  return [
    parts.join("; "),
    [
      `${thousand(requests.requests)} requests (${retries} retried, ${failed} given up)`,
      `${thousand(promptTokens)} + ${thousand(completionTokens)} tokens${uncounted}`,
      ...(cost === null ? [] : [`${cost.amount.toFixed(2)} ${cost.currency}`]),
      ...(firstTokenMs === null ? [] : [`first token after ${ms(firstTokenMs.p50)} (median)`]),
    ].join("; "),
  ].join("\n");
}
