/** Two runs on the same questions, a run beside published numbers, a retriever beside another. */
import {
  ABSENT,
  fixed,
  formatCount,
  formatDifference,
  formatFineScore,
  formatInterval,
  formatP,
  formatScore,
  plural,
  shorten,
  signed,
} from "../../base/format.ts";
import type { MetricComparison, RetrievalScores } from "../../evaluate/retrieval-scores.ts";
import { disagreementNotes } from "../../evaluate/statistics.ts";
import type {
  ChangedQuestion,
  Comparison,
  SideComparison,
} from "../../experiment/compare/compare-runs.ts";
import { differenceText } from "../../experiment/compare/protocol-differences.ts";
import type { Measurement, PublishedGap } from "../../experiment/compare/published-gap.ts";
import type { PaperCell } from "../../run/claims.ts";
import { type Block, type Cell, type Column, note, table } from "../document.ts";
import { READS_GOLD } from "./scores.ts";

const DIFFERENCE = { label: "A − B", format: formatDifference };
const SIDES: readonly Column[] = [
  ...["A", "B"].map((label) => ({ label, format: formatScore })),
  DIFFERENCE,
];
const TESTS: readonly Column[] = ["p", "Holm"].map((label) => ({ label, format: formatP }));

/** A comparison of runs; fits 80 columns if the names are short. */
export function comparisonBlocks({ comparisons, protocol, tests, readsGold }: Comparison): Block[] {
  const all = comparisons.flatMap(({ metrics }) => metrics);
  const isOpen = all.some(({ verdict }) => verdict === "no difference shown");
  const across = protocol.differences.map(differenceText);
  const unknown = protocol.unknown.length;
  return [
    ...comparisons.flatMap(sideBlocks),
    ...(across.length === 0
      ? []
      : [
          note("The protocols differ where --across allows it (A first):"),
          { kind: "list" as const, items: across },
        ]),
    ...(unknown === 0
      ? []
      : [
          note(
            `The protocol of ${plural(unknown, "run")} is not known: decide for yourself whether the runs are comparable.`,
          ),
        ]),
    ...(readsGold ? [{ kind: "warning" as const, text: READS_GOLD }] : []),
    ...[
      `p: paired permutation test over questions; Holm: corrected for ${plural(tests, "test")}`,
      "A is: by the corrected p, at level .05",
      "detectable: the smallest true difference that the test finds with probability .8",
      ...disagreementNotes(all.map(({ ci95, pHolm: p }) => ({ ci95, p }))),
      ...(isOpen ? ["–: no difference shown; the two may still differ"] : []),
    ].map((text) => note(text)),
  ];
}

function sideBlocks(side: SideComparison): Block[] {
  const { left, right, metrics, questions } = side;
  const { compared, onlyLeft, onlyRight, leftOut } = questions;
  const joined = [
    `${plural(compared, "question")} compared`,
    ...(leftOut > 0 ? [`${leftOut} left out because they ended in errors`] : []),
    ...(onlyLeft > 0 ? [`${onlyLeft} only in A`] : []),
    ...(onlyRight > 0 ? [`${onlyRight} only in B`] : []),
  ];
  const errors = ["A", "B", "A − B"].map((label) => ({ label, format: fixed(4) }));
  const effects = ["effect dz", "h"].map((label) => ({ label, format: fixed(2) }));
  return [
    {
      kind: "facts",
      facts: [
        ["A", left],
        ["B", right],
        ["questions", joined.join(", ")],
      ],
    },
    table(
      "Differences",
      ["", ...SIDES, ...TESTS, "A is"],
      metrics.map(
        ({ metric, n, left: a, right: b, difference: value, ci95: interval, ...each }) => [
          ...[
            n === compared ? metric : `${metric} (n ${n})`,
            a,
            b,
            { value, interval },
            each.p,
            each.pHolm,
          ],
          each.verdict === "no difference shown" ? ABSENT : each.verdict,
        ],
      ),
    ),
    table(
      "Precision",
      ["standard error of", ...errors, ...effects, { label: "detectable", format: formatScore }],
      metrics.map((each) => [
        ...[each.metric, each.leftError, each.rightError, each.standardError],
        ...[each.effect, each.shareEffect, each.smallestDetectable],
      ]),
    ),
    ...severalRunsNotes(side),
    ...metrics.flatMap(({ metric, agreement, mcnemar }) => {
      if (agreement === null || mcnemar === null) return [];
      const { both, onlyLeft: a, onlyRight: b, neither } = agreement;
      return [
        note(
          `${metric}: both right ${both}, only A ${a}, only B ${b}, neither ${neither}; McNemar's exact p ${formatP(mcnemar)}`,
        ),
      ];
    }),
    groupsTable(side),
    ...changedBlocks(side.changed),
  ];
}

/** For several runs of a side: the meaning of p, and the test between runs. */
function severalRunsNotes({ metrics }: SideComparison): Block[] {
  const lines = metrics.flatMap(({ metric, runs }) => {
    if (runs === null) return [];
    const { ci95, p, method } = runs;
    if (ci95 === null || p === null) return [`${metric}: too few runs for a test between them`];
    const test = method === "paired-t" ? "paired by seed" : "Welch's";
    return [
      `${metric}: t test between runs (${test}) p ${formatP(p)}, ${formatInterval(ci95, formatDifference)}`,
    ];
  });
  const head = "Several runs: intervals resample runs and questions; p is over questions alone.";
  return (lines.length === 0 ? [] : [head, ...lines]).map((text) => note(text));
}

function groupsTable({ groups, metrics }: SideComparison): Block {
  const rows = (["hops", "type"] as const).flatMap((by) => {
    const first = groups[by][metrics[0]?.metric ?? ""] ?? {};
    const names = Object.keys(first);
    // A single group equals the whole.
    if (names.length < 2) return [];
    return names.flatMap((name) =>
      metrics.flatMap(({ metric }, i): Cell[][] => {
        const group = groups[by][metric]?.[name];
        if (group === undefined) return [];
        const { n, left, right, difference: value, ci95: interval } = group;
        // The group's name appears once, and its n again if a metric has another.
        const head = i === 0 ? [name, n] : ["", n === first[name]?.n ? "" : n];
        return [[...head, metric, left, right, { value, interval }]];
      }),
    );
  });
  return table("Groups", ["group", { label: "n", format: formatCount }, "", ...SIDES], rows);
}

/** Questions shown of each kind. */
const MOST_SHOWN = 3;

function changedBlocks(changed: readonly ChangedQuestion[]): Block[] {
  const [first] = changed;
  if (first === undefined) return [];
  const [gained = [], lost = []] = (["gained", "lost"] as const).map((kind) =>
    changed.filter(({ change }) => change === kind),
  );
  const shown = [...gained.slice(0, MOST_SHOWN), ...lost.slice(0, MOST_SHOWN)];
  return [
    note(
      `${first.metric}: A is better on ${plural(gained.length, "question")}, worse on ${lost.length}`,
    ),
    table(
      "Changed",
      [],
      shown.map(({ id, change, question }) => [
        change === "gained" ? "+" : "−",
        shorten(question ?? id, 76),
      ]),
    ),
    ...(changed.length > shown.length ? [note("--changed FILE.jsonl writes all of them")] : []),
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

/** A comparison with published numbers; fits 80 columns if the names are short. */
export function publishedBlocks({
  run,
  ours,
  gaps,
  differences,
  unseen,
}: PublishedComparison): Block[] {
  const { metric, n, value, ci95, method, leftOut } = ours;
  const isTwoSample = gaps.some(({ twoSample }) => twoSample !== null);
  const hasModels = new Set(gaps.map(({ cell }) => cell?.model)).size > 1;
  const places = gaps.flatMap(({ cell }) => {
    if (cell === null) return [];
    return [[cell.table, cell.dataset, cell.split].filter((each) => each !== null).join(", ")];
  });
  const errors = leftOut > 0 ? `, ${leftOut} left out because they ended in errors` : "";
  return [
    { kind: "text", text: { text: run, style: "strong" } },
    note(
      `${metric} ${formatScore(value)}, 95 % interval ${formatInterval(ci95, formatScore)} (${method}), ${plural(n, "question")}${errors}`,
    ),
    ...[...new Set(places)].map((text) => note(text)),
    table(
      "Published",
      [
        ...["", ...(hasModels ? ["model"] : [])],
        { label: "published", format: formatScore },
        { label: "gap", format: formatDifference },
        ...(isTwoSample ? [] : ["inside"]),
      ],
      gaps.map(({ cell, published, difference, ci95: own, inside, twoSample }) => [
        cell?.system ?? "published",
        ...(hasModels ? [cell?.model ?? ""] : []),
        ...[published, { value: difference, interval: twoSample ?? own }],
        ...(isTwoSample ? [] : [inside ? "yes" : "no"]),
      ]),
    ),
    note(
      isTwoSample
        ? "gap: ours minus published; the interval treats both as samples."
        : "gap: ours minus published, which is treated as exact (--n makes it a sample).",
    ),
    ...(differences.length === 0
      ? []
      : [
          note("The protocols differ:"),
          {
            kind: "list" as const,
            items: differences.map(
              ({ part, ours: a, theirs: b }) => `${part}: ours ${a}, theirs ${b}`,
            ),
          },
        ]),
    ...(unseen.length > 0 ? [note(`Not known of both sides: ${unseen.join(", ")}.`)] : []),
  ];
}

/** Scores of a retriever or run: a row per metric with its interval, and a column per number of hops. */
export function retrievalBlocks(name: string, scores: RetrievalScores): Block[] {
  const { n, metrics, intervals, groups, fingerprint } = scores;
  const hops = Object.entries(groups.hops);
  // A single group equals the whole.
  const shown = hops.length > 1 ? hops : [];
  const fine = { format: formatFineScore };
  return [
    {
      kind: "text",
      text: `${name}: ${n} queries${hops.length === 1 ? ` (all ${hops[0]?.[0] ?? ""})` : ""}`,
    },
    table(
      "Scores",
      [
        "",
        { label: "mean", ...fine },
        ...shown.map(([group, of]) => ({ label: `${group} (${of.n})`, ...fine })),
      ],
      Object.entries(metrics).map(([metric, value]) => [
        ...[metric, { value, interval: intervals[metric] }],
        ...shown.map(([, group]) => group.metrics[metric] ?? null),
      ]),
    ),
    note(`protocol ${fingerprint}`),
  ];
}

/** A retriever compared: difference with interval, p before and after Holm's correction, verdict. */
export function retrievalComparisonBlocks(
  other: string,
  metrics: readonly MetricComparison[],
): Block[] {
  const isOpen = metrics.some(({ verdict }) => verdict === "no difference shown");
  return [
    { kind: "text", text: `compared with ${other}` },
    table(
      "Differences",
      [
        "",
        { label: "theirs", format: formatFineScore },
        { label: "difference", format: signed(4) },
        ...TESTS,
        "verdict",
      ],
      metrics.map(({ metric, right, difference: value, ci95: interval, p, pHolm, verdict }) => [
        ...[metric, right, { value, interval }, p, pHolm, verdict],
      ]),
    ),
    note(
      "p: paired permutation test over queries; Holm: corrected for the number of metrics, level .05",
    ),
    ...disagreementNotes(metrics.map(({ ci95, pHolm: p }) => ({ ci95, p }))).map((text) =>
      note(text),
    ),
    ...(isOpen ? [note("no difference shown: the two may still differ")] : []),
  ];
}
