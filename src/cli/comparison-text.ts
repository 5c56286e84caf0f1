import type { PaperCell } from "../run/claims.ts";
import {
  ABSENT,
  fixed,
  formatCount,
  formatInterval,
  formatP,
  plural,
  shorten,
  signed,
} from "../base/format.ts";
import { intervalColumn, TABLE_WRITERS } from "../base/table.ts";
import type {
  ChangedQuestion,
  Comparison,
  SideComparison,
} from "../experiment/compare/compare-runs.ts";
import type { MetricResult } from "../experiment/compare/compare-sides.ts";
import { differenceText } from "../experiment/compare/protocol-differences.ts";
import type { Measurement, PublishedGap } from "../experiment/compare/published-gap.ts";
import { disagreementNotes } from "../evaluate/paired-test.ts";
import { READS_GOLD } from "../view/documents/scores.ts";

/** Format of a comparison: for a terminal, or as Markdown for a pull request. */
export type ComparisonFormat = keyof typeof TABLE_WRITERS;

const LINE_END: Record<ComparisonFormat, string> = { text: "\n", md: "  \n" };
const [value, difference] = [fixed(3), signed(3)];

/** Columns of two sides with their difference and its interval. */
const SIDES = [
  { label: "A", format: value },
  { label: "B", format: value },
  { label: "A − B", format: difference },
  intervalColumn("95 % interval", difference),
];

/** A comparison for people; fits 80 columns if the names are short. */
export function comparisonOfRunsText(comparison: Comparison, format: ComparisonFormat): string {
  const { comparisons, protocol, tests, readsGold } = comparison;
  const across = protocol.differences.map((each) => `  ${differenceText(each)}`);
  const remarks = [
    ...(across.length > 0 ? ["The protocols differ where --across allows it (A first):"] : []),
    ...across,
    ...(protocol.unknown.length > 0
      ? [
          `The protocol of ${plural(protocol.unknown.length, "run")} is not known:`,
          "decide for yourself whether the runs are comparable.",
        ]
      : []),
    ...(readsGold ? [READS_GOLD] : []),
  ];
  const open = comparisons.some(({ metrics }) =>
    metrics.some(({ verdict }) => verdict === "no difference shown"),
  );
  const explained = [
    `p: paired permutation test over questions; Holm: corrected for ${plural(tests, "test")}`,
    "A is: by the corrected p, at level .05",
    "detectable: the smallest true difference that the test finds with probability .8",
    ...disagreementNotes(
      comparisons.flatMap(({ metrics }) => metrics.map(({ ci95, pHolm: p }) => ({ ci95, p }))),
    ),
    ...(open ? ["–: no difference shown; the two may still differ"] : []),
  ];
  return [
    ...comparisons.map((each) => sideText(each, format)),
    ...(remarks.length > 0 ? [remarks.join("\n")] : []),
    explained.join("\n"),
  ].join("\n\n");
}

function sideText(side: SideComparison, format: ComparisonFormat): string {
  return [
    headText(side, format),
    differencesTable(side, format),
    precisionTable(side, format),
    ...severalRunsText(side),
    ...agreementText(side),
    ...groupsTable(side, format),
    ...changedText(side.changed),
  ].join("\n\n");
}

function headText({ left, right, questions }: SideComparison, format: ComparisonFormat): string {
  const { compared, onlyLeft, onlyRight, leftOut } = questions;
  const joined = [
    `${plural(compared, "question")} compared`,
    ...(leftOut > 0 ? [`${leftOut} left out because they ended in errors`] : []),
    ...(onlyLeft > 0 ? [`${onlyLeft} only in A`] : []),
    ...(onlyRight > 0 ? [`${onlyRight} only in B`] : []),
  ].join(", ");
  return [`A  ${left}`, `B  ${right}`, joined].join(LINE_END[format]);
}

function differencesTable(
  { metrics, questions }: SideComparison,
  format: ComparisonFormat,
): string {
  const rows = metrics.map(
    ({ metric, n, left, right, difference: by, ci95, p, pHolm, verdict }) => [
      n === questions.compared ? metric : `${metric} (n ${n})`,
      ...[left, right, by, ci95, p, pHolm],
      VERDICTS[verdict],
    ],
  );
  const tests = [
    { label: "p", format: formatP },
    { label: "Holm", format: formatP },
  ];
  return TABLE_WRITERS[format]({ columns: ["", ...SIDES, ...tests, "A is"], rows });
}

const VERDICTS: Record<MetricResult["verdict"], string> = {
  higher: "higher",
  lower: "lower",
  "no difference shown": ABSENT,
};

function precisionTable({ metrics }: SideComparison, format: ComparisonFormat): string {
  return TABLE_WRITERS[format]({
    columns: [
      "standard error of",
      ...["A", "B", "A − B"].map((label) => ({ label, format: fixed(4) })),
      ...["effect dz", "h"].map((label) => ({ label, format: fixed(2) })),
      { label: "detectable", format: value },
    ],
    rows: metrics.map(({ metric, leftError, rightError, standardError, ...sizes }) => [
      ...[metric, leftError, rightError, standardError],
      ...[sizes.effect, sizes.shareEffect, sizes.smallestDetectable],
    ]),
  });
}

/** For several runs of a side: the meaning of p, and the test between runs. */
function severalRunsText({ metrics }: SideComparison): string[] {
  const lines = metrics.flatMap(({ metric, runs }) => {
    if (runs === null) return [];
    const { ci95, p, method } = runs;
    if (ci95 === null || p === null) return [`${metric}: too few runs for a test between them`];
    const test = method === "paired-t" ? "paired by seed" : "Welch's";
    return [
      `${metric}: t test between runs (${test}) p ${formatP(p)}, ${formatInterval(ci95, difference)}`,
    ];
  });
  const head = "Several runs: intervals resample runs and questions; p is over questions alone.";
  return lines.length === 0 ? [] : [[head, ...lines].join("\n")];
}

function agreementText({ metrics }: SideComparison): string[] {
  const lines = metrics.flatMap(({ metric, agreement, mcnemar }) => {
    if (agreement === null || mcnemar === null) return [];
    const { both, onlyLeft, onlyRight, neither } = agreement;
    return [
      `${metric}: both right ${both}, only A ${onlyLeft}, only B ${onlyRight}, neither ${neither}; McNemar's exact p ${formatP(mcnemar)}`,
    ];
  });
  return lines.length === 0 ? [] : [lines.join("\n")];
}

function groupsTable({ groups, metrics }: SideComparison, format: ComparisonFormat): string[] {
  const rows = (["hops", "type"] as const).flatMap((by) => {
    const first = groups[by][metrics[0]?.metric ?? ""] ?? {};
    const names = Object.keys(first);
    // A single group equals the whole.
    if (names.length < 2) return [];
    return names.flatMap((name) =>
      metrics.flatMap(({ metric }, i) => {
        const group = groups[by][metric]?.[name];
        if (group === undefined) return [];
        const { n, left, right, difference: change, ci95 } = group;
        // The group's name appears once, and its n again if a metric has another.
        const head = i === 0 ? [name, n] : ["", n === first[name]?.n ? "" : n];
        return [[...head, metric, left, right, change, ci95]];
      }),
    );
  });
  if (rows.length === 0) return [];
  const columns = ["group", { label: "n", format: formatCount }, "", ...SIDES];
  return [TABLE_WRITERS[format]({ columns, rows })];
}

/** Questions shown of each kind. */
const MOST_SHOWN = 3;

function changedText(changed: readonly ChangedQuestion[]): string[] {
  const [first] = changed;
  if (first === undefined) return [];
  const [gained, lost] = (["gained", "lost"] as const).map((change) =>
    changed.filter((each) => each.change === change),
  ) as [ChangedQuestion[], ChangedQuestion[]];
  const lines = [...gained.slice(0, MOST_SHOWN), ...lost.slice(0, MOST_SHOWN)].map(
    ({ id, change, question }) =>
      shorten(`${change === "gained" ? "+" : "−"} ${question ?? id}`, 78),
  );
  return [
    [
      `${first.metric}: A is better on ${plural(gained.length, "question")}, worse on ${lost.length}`,
      ...lines.map((line) => `  ${line}`),
      ...(changed.length > lines.length ? ["  --changed FILE.jsonl writes all of them"] : []),
    ].join("\n"),
  ];
}

/** A run beside published numbers, each with its place in the paper. */
export interface PublishedComparison {
  run: string;
  ours: Measurement;
  gaps: (PublishedGap & { cell: PaperCell | null; n: number | null })[];
  /** Differences between known parts of both protocols. */
  differences: { part: string; ours: string; theirs: string }[];
  /** Parts known for only one side. */
  unseen: string[];
}

/** A comparison with published numbers for people; fits 80 columns if the names are short. */
export function publishedText(found: PublishedComparison, format: ComparisonFormat): string {
  const { run, ours, gaps, differences, unseen } = found;
  const { metric, n, value: measured, ci95, method, leftOut } = ours;
  const twoSample = gaps.some((gap) => gap.twoSample !== null);
  const models = new Set(gaps.map(({ cell }) => cell?.model)).size > 1;
  const places = gaps.flatMap(({ cell }) => (cell === null ? [] : [placeOf(cell)]));
  const errors = leftOut > 0 ? `, ${leftOut} left out because they ended in errors` : "";
  return [
    [
      run,
      `${metric} ${value(measured)}, 95 % interval ${formatInterval(ci95, value)} (${method}), ${plural(n, "question")}${errors}`,
      ...new Set(places),
    ].join(LINE_END[format]),
    TABLE_WRITERS[format]({
      columns: [
        "",
        ...(models ? ["model"] : []),
        { label: "published", format: value },
        { label: "gap", format: difference },
        intervalColumn("95 % interval", difference),
        ...(twoSample ? [] : ["inside"]),
      ],
      rows: gaps.map(({ cell, published, difference: gap, ci95: own, inside, twoSample: two }) => [
        cell?.system ?? "published",
        ...(models ? [cell?.model ?? ""] : []),
        ...[published, gap, two ?? own],
        ...(twoSample ? [] : [inside ? "yes" : "no"]),
      ]),
    }),
    [
      twoSample
        ? "gap: ours minus published; the interval treats both as samples."
        : "gap: ours minus published, which is treated as exact (--n makes it a sample).",
      ...(differences.length > 0 ? ["The protocols differ:"] : []),
      ...differences.map(({ part, ours: a, theirs: b }) => `  ${part}: ours ${a}, theirs ${b}`),
      ...(unseen.length > 0 ? [`Not known of both sides: ${unseen.join(", ")}.`] : []),
    ].join("\n"),
  ].join("\n\n");
}

function placeOf({ table, dataset, split }: PaperCell): string {
  return `${table}, ${dataset}${split === null ? "" : `, ${split}`}`;
}
