/** Scores of evaluations: the tables that terminals, Markdown and pages share. */
import {
  type NumberFormat,
  formatCount,
  formatDuration,
  formatFineScore,
  formatInterval,
  formatMean,
  formatMilliseconds,
  formatMoney,
  formatP,
  formatPercent,
  formatRate,
  formatScore,
  plural,
  withPlus,
} from "../../base/format.ts";
import {
  type EvaluationSummary,
  type GroupSummary,
  failuresText,
} from "../../evaluate/evaluation-summary.ts";
import {
  chartedMetrics,
  metricFormat,
  metricLabel,
  shownMetrics,
  shownValue,
} from "../../evaluate/metrics/metric-columns.ts";
import type { MetricValues } from "../../evaluate/metrics/metric-sums.ts";
import { policyLabel } from "../../evaluate/policy-label.ts";
import type { RowsSummary } from "../../evaluate/rows-file.ts";
import { disagreementNotes } from "../../evaluate/statistics.ts";
import type { EvaluationTimings } from "../../evaluate/timings.ts";
import type { MeterReading } from "../../http/meter.ts";
import type { AroundTraining } from "../../run/evaluation-sets.ts";
import type { EvalResult } from "../../run/run-eval.ts";
import { axisTo } from "../charts/marks.ts";
import {
  type Block,
  type Cell,
  type Column,
  type RowGroup,
  type Table,
  named,
  note,
  table,
} from "../document.ts";
import type { PairedDifference } from "../paired-with-first.ts";
import type { GroupScores } from "../score-groups.ts";
import { AVERAGE_NOTE, type MatrixRow } from "../score-matrix.ts";

/** Shown with all numbers of a policy that could read gold passages. */
export const READS_GOLD =
  "The search looks at the questions' gold passages: these numbers are a control, not a result.";

/** A result with its scores by group. */
export interface Scored {
  name: string;
  /** Index of its colour; the same in every chart. */
  series: number;
  groups: readonly GroupScores[];
}

/** Headings of the kinds of groups. */
const KINDS: Readonly<Record<string, string>> = { hops: "By hops", type: "By type" };

/** Every headline metric of all questions and of each group, a row for each result; the first metric also as dot and 95 % interval. */
export function scoreTable(results: readonly Scored[]): Table {
  const present: Record<string, unknown> = {};
  for (const { groups } of results) Object.assign(present, groups[0]?.metrics);
  const charted = chartedMetrics(present);
  const others = [
    ...shownMetrics(present).filter((metric) => !charted.includes(metric)),
    ...Object.keys(present).filter((metric) => metric.includes("@")),
  ];
  const all = results.flatMap(({ groups }) => groups);
  const ends = all.flatMap(({ metrics, intervals }) =>
    charted.map((metric) => intervals[metric]?.[1] ?? metrics[metric] ?? 0),
  );
  const largest = Math.max(...ends, 0);
  const axis = axisTo(largest > 0.5 ? 1 : largest);
  const several = results.length > 1;
  const rowOf = ({ name, series, groups }: Scored, kind: string, of: string): Cell[] => {
    const group = groups.find((each) => each.kind === kind && each.name === of);
    const value = (metric: string): number | null => shownValue(group?.metrics ?? {}, metric);
    return [
      several ? named(series, name) : of,
      group?.n ?? null,
      ...charted.flatMap((metric, i): Cell[] => {
        const interval = group?.intervals[metric] ?? null;
        const own = { value: value(metric), interval };
        return [...(i === 0 ? [{ dots: [{ ...own, series }] }] : []), own];
      }),
      ...others.map(value),
    ];
  };
  const kinds = new Map(all.map(({ kind, name }) => [`${kind}/${name}`, { kind, name }]));
  let before = "all";
  const groups = [...kinds.values()].flatMap(({ kind, name }): RowGroup[] => {
    const title = kind === before ? undefined : (KINDS[kind] ?? `By ${kind}`);
    before = kind;
    const side = several ? name : undefined;
    return [{ title, side, rows: results.map((own) => rowOf(own, kind, name)) }];
  });
  return {
    kind: "table",
    caption: "Scores",
    className: "panel",
    columns: [
      ...(several ? ["questions", "result"] : ["questions"]),
      { label: "n", format: formatCount },
      ...charted.flatMap((metric, i): Column[] => [
        ...(i === 0 ? [{ label: metricLabel(metric), axis }] : []),
        metricColumn(metric),
      ]),
      ...others.map(metricColumn),
    ],
    groups,
  };
}

function metricColumn(metric: string): Column {
  return { label: metricLabel(metric), format: metricFormat(metric) };
}

/** Policies on datasets, a row per policy. */
export function matrixBlocks(rows: readonly MatrixRow[], isColoured = false): Block[] {
  const datasets = [...new Set(rows.flatMap((row) => Object.keys(row.datasets)))];
  const columns = [...datasets, "average"].flatMap((name) =>
    ["EM", "F1"].map((metric) => ({ label: `${name} ${metric}`, format: formatScore })),
  );
  const cells = rows.map(({ policy, datasets: of, average }, series) => [
    isColoured ? named(series, policy) : policy,
    ...datasets.flatMap((name): Cell[] => {
      const { em = null, f1 = null, emInterval = null, n } = of[name] ?? {};
      return [
        {
          value: em,
          interval: emInterval,
          remark: isColoured && n !== undefined && `n ${formatCount(n)}`,
        },
        f1,
      ];
    }),
    ...[average.em, average.f1],
  ]);
  return [
    {
      ...table(
        "EM and F1 of every policy on every dataset",
        ["policy", ...columns],
        cells,
        "plain matrix",
      ),
      inParts: true,
    },
    note(AVERAGE_NOTE),
  ];
}

/** Differences to a first result, by metric. */
export function differencesTable(
  caption: string,
  metrics: readonly {
    metric: string;
    rows: readonly {
      name: Cell;
      n: number | null;
      mean: number | null;
      difference: PairedDifference | string | null;
    }[];
  }[],
  counted: string,
): Block[] {
  const found = metrics.flatMap(({ rows }) => rows.map(({ difference }) => difference));
  const compared = found.filter((each) => each !== null && typeof each !== "string");
  const reasons = found.filter((each) => typeof each === "string");
  return [
    {
      kind: "table",
      caption,
      className: "plain figures-table",
      columns: [
        "",
        { label: counted, format: formatCount },
        { label: "mean", format: formatScore },
        ...differenceColumns("difference"),
      ],
      groups: metrics.map(({ metric, rows }) => ({
        title: metricLabel(metric),
        rows: rows.map(({ name, n, mean, difference }) => [
          name,
          n,
          mean,
          ...differenceCells(difference),
        ]),
      })),
    },
    ...disagreementNotes(compared).map((text) => note(text)),
    ...[...new Set(reasons)].map((reason) =>
      note({ text: "Not compared:", style: "strong" }, ` ${reason}`),
    ),
  ];
}

const TONES = { higher: "good", lower: "bad", "no difference shown": null } as const;

/** Columns of a difference with its interval and p. */
export function differenceColumns(label: string): Column[] {
  return [
    { label, format: (value) => withPlus(formatScore(value), value) },
    { label: "p", format: formatP },
  ];
}

export function differenceCells(found: PairedDifference | string | null): Cell[] {
  if (found === null) return [null, undefined];
  if (typeof found === "string") return ["not compared", undefined];
  const { difference: value, ci95: interval, p, verdict } = found;
  return [{ value, interval, tone: TONES[verdict] }, p];
}

/** How the differences were computed. */
export const PAIRED_NOTE =
  "Differences are paired by question, with 95 % bootstrap intervals (over questions, and runs if an arm has several) and p of a permutation test after Holm’s correction.";

/** An evaluation for a terminal: the policy, a row for all questions and for each group, the intervals. */
export function evaluationBlocks(result: EvalResult): Block[] {
  const { n, metrics, groups, samplesPerTask, seed, intervals, intervalMethods } = result;
  const group =
    (kind: string) =>
    ([name, own]: [string, GroupSummary]): GroupScores => ({
      ...{ kind, name, n: own.n },
      metrics: own.metrics,
      intervals: {},
    });
  const scored = [
    {
      kind: "all",
      name: "all",
      n,
      metrics: metrics as unknown as GroupScores["metrics"],
      intervals: {},
    },
    ...Object.entries(groups.hops).map(group("hops")),
    ...Object.entries(groups.type).map(group("type")),
  ];
  const intervalOf = (name: "em" | "f1"): string =>
    `${metricLabel(name)} ${formatInterval(intervals[name], formatScore)} (${intervalMethods[name]})`;
  const searches = (metrics as { strategy_searches?: number }).strategy_searches ?? 0;
  const failures = failuresText(result.errors);
  return [
    {
      kind: "text",
      text: `${policyLabel(result.policy)} on ${result.dataset}, strategy ${result.strategy}: ${drawsText({ n, samplesPerTask })}, seed ${seed}`,
    },
    scoreTable([{ name: "", series: 0, groups: scored }]),
    ...(failures === "" ? [] : [{ kind: "warning" as const, text: failures }]),
    ...[
      ...evidenceText(metrics),
      ...cutsText(metrics),
      ...(searches === 0
        ? []
        : [`the strategy itself searches ${formatMean(searches)} times per question`]),
      `95 % intervals over questions: ${intervalOf("em")}, ${intervalOf("f1")}`,
      "searches, turns, tokens: per question; answered, parsed: share of questions",
      `recipe ${result.recipe.name}, tier ${result.recipe.tier}; protocol ${result.fingerprint}`,
    ].map((text) => note(text)),
    ...(result.readsGold ? [{ kind: "warning" as const, text: READS_GOLD }] : []),
  ];
}

function drawsText({ n, samplesPerTask }: Pick<EvaluationSummary, "n" | "samplesPerTask">): string {
  return `${n} questions${samplesPerTask > 1 ? `, ${samplesPerTask} draws each` : ""}`;
}

/** How many gold passages the policy saw, and how often it was then right; if gold is known. */
function evidenceText(metrics: MetricValues): string[] {
  const { evidence_recall: recall, evidence_all_rate: all, answer_after_evidence: right } = metrics;
  if (recall === undefined || all === undefined) return [];
  const then = right === undefined ? "" : `; of these ${formatScore(right)} right`;
  return [
    `gold passages shown: ${formatScore(recall)}; all of them for ${formatScore(all)} of questions${then}`,
  ];
}

/** What budgets cut, in one line; none where nobody was asked. */
function cutsText(metrics: MetricValues): string[] {
  const rates = {
    messages: metrics.cut_message_rate,
    observations: metrics.cut_observation_rate,
    contexts: metrics.cut_context_rate,
  };
  const cuts = Object.entries(rates).flatMap(([what, share]) =>
    share === undefined ? [] : [`${what} in ${formatPercent(share)}`],
  );
  return cuts.length === 0 ? [] : [`cut, of the questions: ${cuts.join(", ")}`];
}

/** A held-out evaluation before and after training, metric by metric and by hops; then each of `evaluation.sets`. */
export function changeBlocks({
  before,
  after,
  sets = {},
}: AroundTraining<EvaluationSummary>): Block[] {
  const of = (summary: GroupSummary | undefined, name: string): number | null =>
    (summary?.metrics as Readonly<Record<string, number>> | undefined)?.[name] ?? null;
  const rows = [
    ...shownMetrics(before.metrics).map((name) =>
      changeRow(metricLabel(name), name, of(before, name), of(after, name)),
    ),
    ...Object.entries(before.groups.hops).map(([hops, group]) =>
      changeRow(`EM, ${hops}`, "em", of(group, "em"), of(after.groups.hops[hops], "em")),
    ),
  ];
  const around = ["before", "after", "change"].map((label) => ({ label, align: "right" as const }));
  const failures = Object.entries({ before, after }).flatMap(([when, { errors }]): Block[] => {
    const text = failuresText(errors);
    return text === "" ? [] : [{ kind: "warning", text: `${when}: ${text}` }];
  });
  const setRows = Object.entries(sets).map(([set, { before: first, after: last }]) => {
    // A world that pays has no answers to compare.
    const metric = last.metrics.return === undefined ? "em" : "return";
    const [, ...change] = changeRow("", metric, of(first, metric), of(last, metric));
    return [set, last.n, metricLabel(metric), ...change];
  });
  return [
    table("Held-out questions", [plural(after.n, "question"), ...around], rows),
    ...failures,
    ...(setRows.length === 0
      ? []
      : [
          table(
            "Evaluation sets",
            ["set", { label: "questions", format: formatCount }, "", ...around],
            setRows,
          ),
        ]),
  ];
}

function changeRow(label: string, metric: string, was: number | null, is: number | null): string[] {
  const format = metricFormat(metric);
  const text = (value: number | null, write: NumberFormat): string =>
    value === null ? "–" : write(value);
  const change = was === null || is === null ? null : is - was;
  return [
    label,
    text(was, format),
    text(is, format),
    text(change, (value) => withPlus(format(value), value)),
  ];
}

/** Results computed from rows: every metric, and the comparison with other runs of the policy. */
export function rowsBlocks(summary: RowsSummary): Block[] {
  const { n, metrics, metricCounts, intervals, searchNeed = {} } = summary;
  const failures = failuresText(summary.errors);
  const fine = { format: formatFineScore };
  const need = Object.entries(
    searchNeed as Record<string, { n: number; share: number | null }>,
  ).flatMap(([name, { n: draws, share }]) => (share === null ? [] : [[name, share, draws]]));
  return [
    { kind: "text", text: drawsText(summary) },
    table(
      "Metrics",
      [
        "",
        { label: "mean", ...fine },
        { label: "questions", format: formatCount },
        { label: "95 % interval", ...fine, align: "left" },
      ],
      Object.entries(metrics).map(([name, value]) => [
        name,
        value,
        metricCounts[name] ?? n,
        intervals[name],
      ]),
    ),
    ...(failures === "" ? [] : [{ kind: "warning" as const, text: failures }]),
    table(
      "Need of searches",
      ["", { label: "share", ...fine }, { label: "draws", format: formatCount }],
      need,
    ),
  ];
}

/** Times of an evaluation and requests to a server, as text. */
export function timingsText(
  { seconds, questionsPerSecond, model, search }: EvaluationTimings,
  requests: MeterReading | undefined,
): string {
  const took = [
    `${formatDuration(seconds)}, ${formatRate(questionsPerSecond)} questions/s`,
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
    ...(cost === null ? [] : [formatMoney(cost)]),
    ...(firstTokenMs === null
      ? []
      : [`first token after ${formatMilliseconds(firstTokenMs.p50)} (median)`]),
  ].join("; ");
}
