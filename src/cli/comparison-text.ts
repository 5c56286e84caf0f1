import type {
  ChangedQuestion,
  Comparison,
  SideComparison,
} from "../evaluate/compare/compare-runs.ts";
import type { MetricResult } from "../evaluate/compare/compare-sides.ts";
import { differenceText } from "../evaluate/compare/protocol-differences.ts";
import type { Interval } from "../evaluate/statistics.ts";
import { READS_GOLD } from "./evaluation-text.ts";
import { markdownTable, table, type TableOptions } from "./table.ts";

/** How a comparison is written: for a terminal, or as Markdown for a pull request. */
export type ComparisonFormat = "text" | "md";

type Tables = (rows: readonly (readonly string[])[], options: TableOptions) => string;

const TABLES: Record<ComparisonFormat, Tables> = { text: table, md: markdownTable };

/** A comparison for people; fits 80 columns where names do. */
export function comparisonOfRunsText(comparison: Comparison, format: ComparisonFormat): string {
  const tables = TABLES[format];
  const { comparisons, protocol, tests, readsGold } = comparison;
  const across = protocol.differences.map((each) => `  ${differenceText(each)}`);
  const remarks = [
    ...(across.length > 0 ? [`The protocols differ, as was said by --across (A first):`] : []),
    ...across,
    ...(protocol.unknown.length > 0
      ? [
          `${counted(protocol.unknown.length, "run")} without a protocol (nothing says under what it was measured):`,
          "whether they may be compared is yours to judge.",
        ]
      : []),
    ...(readsGold ? [READS_GOLD] : []),
  ];
  const open = comparisons.some(({ metrics }) =>
    metrics.some(({ verdict }) => verdict === "no difference shown"),
  );
  const explained = [
    `p: paired permutation test over questions; Holm: corrected for ${counted(tests, "test")}`,
    "A is: by the corrected p, at level .05",
    "detectable: the smallest true difference that would be found with a chance of .8",
    ...(open
      ? ["–: no difference shown; these questions do not tell, the two may still differ"]
      : []),
  ];
  return [
    ...comparisons.map((each) => sideText(each, format)),
    ...(remarks.length > 0 ? [remarks.join("\n")] : []),
    explained.join("\n"),
  ].join("\n\n");

  function sideText(side: SideComparison, as: ComparisonFormat): string {
    return [
      headText(side, as),
      differencesTable(side, tables),
      precisionTable(side, tables),
      ...severalRunsText(side),
      ...agreementText(side),
      ...groupsText(side, tables),
      ...changedText(side.changed),
    ].join("\n\n");
  }
}

function headText({ left, right, questions }: SideComparison, format: ComparisonFormat): string {
  const { compared, onlyLeft, onlyRight, leftOut } = questions;
  const rest = [
    ...(leftOut > 0 ? [`${leftOut} left out that ended in errors`] : []),
    ...(onlyLeft > 0 ? [`${onlyLeft} only in A`] : []),
    ...(onlyRight > 0 ? [`${onlyRight} only in B`] : []),
  ];
  const joined = `${counted(compared, "question")} compared${rest.length > 0 ? `; ${rest.join(", ")}` : ""}`;
  const lines = [`A  ${left}`, `B  ${right}`, joined];
  return lines.join(format === "md" ? "  \n" : "\n");
}

function differencesTable({ metrics, questions }: SideComparison, tables: Tables): string {
  const rows = metrics.map(({ metric, n, left, right, difference, ci95, p, pHolm, verdict }) => [
    n === questions.compared ? metric : `${metric} (n ${n})`,
    ...[left, right].map((value) => value.toFixed(3)),
    signed(difference),
    intervalText(ci95),
    probability(p),
    probability(pHolm),
    VERDICTS[verdict],
  ]);
  return tables(rows, {
    head: ["", "A", "B", "A − B", "95 % interval", "p", "Holm", "A is"],
    align: ["left", "right", "right", "right", "left", "right", "right", "left"],
  });
}

const VERDICTS: Record<MetricResult["verdict"], string> = {
  higher: "higher",
  lower: "lower",
  "no difference shown": "–",
};

function precisionTable({ metrics }: SideComparison, tables: Tables): string {
  const rows = metrics.map((metric) => [
    metric.metric,
    ...[metric.leftError, metric.rightError, metric.standardError].map(orDash(4)),
    ...[metric.effect, metric.shareEffect].map(orDash(2)),
    orDash(3)(metric.smallestDetectable),
  ]);
  return tables(rows, {
    head: ["standard error of", "A", "B", "A − B", "effect dz", "h", "detectable"],
    align: ["left", "right", "right", "right", "right", "right", "right"],
  });
}

/** Where a side has several runs: what p is of, and the test between runs. */
function severalRunsText({ metrics }: SideComparison): string[] {
  const lines = metrics.flatMap(({ metric, runs }) => {
    if (runs === null) return [];
    const { ci95, p, method } = runs;
    const paired = method === "paired-t" ? "paired by seed" : "Welch's";
    if (ci95 === null || p === null) return [`${metric}: too few runs for a test between them`];
    return [
      `${metric}: t test between runs (${paired}) p ${probability(p)}, ${intervalText(ci95)}`,
    ];
  });
  if (lines.length === 0) return [];
  return [
    [
      "Several runs: intervals resample runs and questions; p is over questions alone.",
      ...lines,
    ].join("\n"),
  ];
}

function agreementText({ metrics }: SideComparison): string[] {
  const lines = metrics.flatMap(({ metric, agreement, mcnemar }) => {
    if (agreement === null || mcnemar === null) return [];
    const { both, onlyLeft, onlyRight, neither } = agreement;
    return [
      `${metric}: both right ${both}, only A ${onlyLeft}, only B ${onlyRight}, neither ${neither}; McNemar's exact p ${probability(mcnemar)}`,
    ];
  });
  return lines.length === 0 ? [] : [lines.join("\n")];
}

function groupsText({ groups, metrics }: SideComparison, tables: Tables): string[] {
  const rows = (["hops", "type"] as const).flatMap((by) => {
    const names = Object.keys(groups[by][metrics[0]?.metric ?? ""] ?? {});
    // One group is the whole.
    if (names.length < 2) return [];
    return names.flatMap((name) =>
      metrics.flatMap(({ metric }, i) => {
        const group = groups[by][metric]?.[name];
        if (group === undefined) return [];
        const { n, left, right, difference, ci95 } = group;
        return [
          [
            ...(i === 0
              ? [name, String(n)]
              : ["", n === groups[by][metrics[0]?.metric ?? ""]?.[name]?.n ? "" : String(n)]),
            metric,
            ...[left, right].map((value) => value.toFixed(3)),
            signed(difference),
            ci95 === null ? "–" : intervalText(ci95),
          ],
        ];
      }),
    );
  });
  if (rows.length === 0) return [];
  return [
    tables(rows, {
      head: ["group", "n", "", "A", "B", "A − B", "95 % interval"],
      align: ["left", "right", "left", "right", "right", "right", "left"],
    }),
  ];
}

/** Questions shown of each kind. */
const MOST_SHOWN = 3;

function changedText(changed: readonly ChangedQuestion[]): string[] {
  const [first] = changed;
  if (first === undefined) return [];
  const of = (change: string): ChangedQuestion[] =>
    changed.filter((each) => each.change === change);
  const [gained, lost] = [of("gained"), of("lost")];
  const lines = [...gained.slice(0, MOST_SHOWN), ...lost.slice(0, MOST_SHOWN)].map(
    ({ id, change, question }) => cut(`${change === "gained" ? "+" : "−"} ${question ?? id}`, 78),
  );
  return [
    [
      `${first.metric}: A does better on ${counted(gained.length, "question")}, worse on ${lost.length}`,
      ...lines.map((line) => `  ${line}`),
      ...(changed.length > lines.length ? ["  all of them: --changed FILE.jsonl"] : []),
    ].join("\n"),
  ];
}

/** @example counted(1, "test") // "1 test"; counted(2, "test") // "2 tests" */
export function counted(n: number, what: string, several = `${what}s`): string {
  return `${n} ${n === 1 ? what : several}`;
}

/** A difference with its sign; 0 has none. */
export function signed(value: number): string {
  const text = Math.abs(value).toFixed(3);
  if (Number(text) === 0) return text;
  return `${value > 0 ? "+" : "−"}${text}`;
}

/** Both ends of an interval of differences. */
export function intervalText(interval: Interval): string {
  return interval.map(signed).join(" … ");
}

function probability(p: number): string {
  return p < 0.0001 ? "<.0001" : p.toFixed(4).replace(/^0/, "");
}

function orDash(digits: number): (value: number | null) => string {
  return (value) => (value === null ? "–" : value.toFixed(digits).replace("-", "−"));
}

function cut(text: string, most: number): string {
  const line = text.replace(/\s+/g, " ");
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`;
}
