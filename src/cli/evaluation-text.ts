import {
  fixed,
  formatCount,
  formatDuration,
  formatInterval,
  formatMilliseconds,
  type NumberFormat,
  orAbsent,
  plural,
  withPlus,
} from "../base/format.ts";
import { intervalColumn, renderText } from "../base/table.ts";
import { cutsText } from "./cut-text.ts";
import {
  type EvaluationSummary,
  failuresText,
  type GroupSummary,
} from "../evaluate/evaluation-summary.ts";
import {
  metricColumn,
  metricFormat,
  shownMetrics,
  shownValue,
} from "../evaluate/metrics/metric-columns.ts";
import type { MetricValues } from "../evaluate/metrics/metric-sums.ts";
import type { SearchNeed } from "../evaluate/metrics/search-need.ts";
import { policyLabel } from "../evaluate/policy-label.ts";
import type { RowsSummary } from "../evaluate/rows-file.ts";
import type { EvaluationTimings } from "../evaluate/timings.ts";
import type { MeterReading } from "../http/meter.ts";
import type { AroundTraining } from "../run/evaluation-sets.ts";
import type { EvalResult } from "../run/run-eval.ts";

/** Shown with all numbers of a policy that could read gold passages. */
export const READS_GOLD =
  "The search looks at the questions' gold passages: these numbers are a control, not a result.";

const share = fixed(3);

/** An evaluation as text: the policy, a row for all questions and for each group, the intervals. */
export function evaluationText(result: EvalResult): string {
  const { n, metrics, groups, samplesPerTask, seed, intervals, intervalMethods } = result;
  const rows: [string, GroupSummary][] = [
    ["all", { n, metrics }],
    ...Object.entries(groups.hops),
    ...Object.entries(groups.type),
  ];
  const drawn = Object.entries(metrics).filter(([name]) => name.includes("@"));
  const intervalOf = (name: "em" | "f1"): string =>
    `${formatInterval(intervals[name], share)} (${intervalMethods[name]})`;
  const shown = shownMetrics(metrics);
  const failures = failuresText(result.errors);
  return [
    `${policyLabel(result.policy)} on ${result.dataset}, strategy ${result.strategy}: ${drawsText({ n, samplesPerTask })}, seed ${seed}`,
    "",
    renderText({
      columns: ["", { label: "n", format: formatCount }, ...shown.map(metricColumn)],
      rows: rows.map(([name, group]) => [
        ...[name, group.n],
        ...shown.map((metric) => shownValue(group.metrics, metric)),
      ]),
    }),
    ...(failures === "" ? [""] : [failures, ""]),
    ...(drawn.length === 0
      ? []
      : [drawn.map(([name, value]) => `${name} ${share(value)}`).join("  "), ""]),
    ...evidenceText(metrics),
    ...cutsText(result),
    ...strategySearchesText(metrics),
    `95 % intervals over questions: EM ${intervalOf("em")}, F1 ${intervalOf("f1")}`,
    "searches, turns, tokens: per question; answered, parsed: share of questions",
    `recipe ${result.recipe.name}, tier ${result.recipe.tier}; protocol ${result.fingerprint}`,
    ...(result.readsGold ? [READS_GOLD] : []),
  ].join("\n");
}

function drawsText({ n, samplesPerTask }: Pick<EvaluationSummary, "n" | "samplesPerTask">): string {
  return `${n} questions${samplesPerTask > 1 ? `, ${samplesPerTask} draws each` : ""}`;
}

function strategySearches({ strategy_searches: searches = 0 }: MetricValues): number {
  return searches;
}

function strategySearchesText(metrics: MetricValues): string[] {
  const searches = strategySearches(metrics);
  if (searches === 0) return [];
  return [`the strategy itself searches ${searches.toFixed(2)} times per question`];
}

/** How many gold passages the policy saw, and how often it was then right; if gold is known. */
function evidenceText(metrics: MetricValues): string[] {
  const { evidence_recall: recall, evidence_all_rate: all, answer_after_evidence: right } = metrics;
  if (recall === undefined || all === undefined) return [];
  const then = right === undefined ? "" : `; of these ${share(right)} right`;
  return [
    `gold passages shown: ${share(recall)}; all of them for ${share(all)} of questions${then}`,
  ];
}

/** A held-out evaluation before and after training, metric by metric and by hops. */
export function changeText(before: EvaluationSummary, after: EvaluationSummary): string {
  const of = (summary: GroupSummary, name: string): number | null =>
    (summary.metrics as Readonly<Record<string, number>>)[name] ?? null;
  const rows = [
    ...shownMetrics(before.metrics).map((name) => ({
      label: metricColumn(name).label,
      name,
      groups: [before, after],
    })),
    ...Object.entries(before.groups.hops).map(([hops, group]) => ({
      label: `EM, ${hops}`,
      name: "em",
      groups: [group, after.groups.hops[hops]],
    })),
  ];
  const table = renderText({
    columns: [
      plural(after.n, "question"),
      ...["before", "after", "change"].map((label) => ({ label, align: "right" as const })),
    ],
    rows: rows.map(({ label, name, groups: [first, last] }) => {
      const [was, is] = [first, last].map((each) => (each === undefined ? null : of(each, name)));
      const change = was === null || is === null ? null : (is ?? 0) - (was ?? 0);
      const format = metricFormat(name);
      return [label, orAbsent(was, format), orAbsent(is, format), orAbsent(change, plus(format))];
    }),
  });
  const failures = Object.entries({ before, after }).flatMap(([when, { errors }]) => {
    const text = failuresText(errors);
    return text === "" ? [] : [`${when}: ${text}`];
  });
  return [table, ...failures].join("\n");
}

/** The evaluations of `evaluation.sets`, a line each. */
export function setsText(sets: NonNullable<AroundTraining<EvaluationSummary>["sets"]>): string {
  const right = { align: "right" as const };
  return renderText({
    columns: [
      ...["set", { label: "questions", format: formatCount }, ""],
      ...["before", "after", "change"].map((label) => ({ label, ...right })),
    ],
    rows: Object.entries(sets).map(([set, { before, after }]) => {
      // A world that pays has no answers to compare.
      const metric = after.metrics.return === undefined ? "em" : "return";
      const format = metricFormat(metric);
      const was = before.metrics[metric] ?? 0;
      const is = after.metrics[metric] ?? 0;
      const shown = [format(was), format(is), plus(format)(is - was)];
      return [set, after.n, metricColumn(metric).label, ...shown];
    }),
  });
}

/** A format of differences. */
function plus(format: NumberFormat): NumberFormat {
  return (value) => withPlus(format(value), value);
}

/** Results computed from rows: every metric, and the comparison with other runs of the policy. */
export function rowsText(summary: RowsSummary): string {
  const { n, metrics, metricCounts, intervals, searchNeed } = summary;
  const failures = failuresText(summary.errors);
  const four = fixed(4);
  return [
    drawsText(summary),
    renderText({
      columns: [
        "",
        { label: "mean", format: four },
        { label: "questions", format: formatCount },
        intervalColumn("95 % interval", four),
      ],
      rows: Object.entries(metrics).map(([name, value]) => {
        return [name, value, metricCounts[name] ?? n, intervals[name]];
      }),
    }),
    ...(failures === "" ? [] : [failures]),
    ...(searchNeed === undefined ? [] : ["", needText(searchNeed)]),
  ].join("\n");
}

function needText(need: SearchNeed): string {
  const rows = Object.entries(need).flatMap(
    ([name, { n, share: found }]: [string, SearchNeed[keyof SearchNeed]]) =>
      found === null ? [] : [[name, found, n]],
  );
  const columns = [
    "",
    { label: "share", format: fixed(4) },
    { label: "draws", format: formatCount },
  ];
  return renderText({ columns, rows });
}

/** Times of an evaluation and requests to a server, as text. */
export function timingsText(
  { seconds, questionsPerSecond, model, search }: EvaluationTimings,
  requests: MeterReading | undefined,
): string {
  const took = [
    `${formatDuration(seconds)}, ${questionsPerSecond.toFixed(1)} questions/s`,
    ...(model === null ? [] : [`policy ${formatMilliseconds(model.mean)} a question`]),
    ...(search === null ? [] : [`tools ${formatMilliseconds(search.mean)}`]),
  ].join("; ");
  return requests === undefined ? took : `${took}\n${requestsText(requests)}`;
}

/** Requests and tokens of a server. */
export function requestsText({ cost, firstTokenMs, ...counts }: MeterReading): string {
  const { requests, cached, retries, failed, promptTokens, completionTokens, uncounted } = counts;
  return [
    `${formatCount(requests)} requests (${retries} retried, ${failed} given up)` +
      (cached === 0 ? "" : `, ${formatCount(cached)} answered by the cache`),
    `${formatCount(promptTokens)} + ${formatCount(completionTokens)} tokens` +
      (uncounted === 0 ? "" : ` (${uncounted} replies not counted)`),
    ...(cost === null ? [] : [`${cost.amount.toFixed(2)} ${cost.currency}`]),
    ...(firstTokenMs === null
      ? []
      : [`first token after ${formatMilliseconds(firstTokenMs.p50)} (median)`]),
  ].join("; ");
}
