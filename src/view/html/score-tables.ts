import { fixed, formatCount, formatPercent, formatShare, orAbsent } from "../../base/format.ts";
import {
  chartedMetrics,
  metricFormat,
  shownValue,
  metricLabel,
} from "../../evaluate/metrics/metric-columns.ts";
import { type Axis, axisTo, dotWhisker, shareBar, tickLabels } from "../charts/marks.ts";
import type { Results } from "../results-schema.ts";
import type { RunFigures } from "../run-figures.ts";
import type { GroupScores } from "../score-groups.ts";
import type { ReadableResult } from "../viewer/evaluation-items.ts";
import {
  type HtmlGroup,
  measured,
  renderHtml,
  small,
  tableCard,
  unseenLabel,
} from "./html-table.ts";
import { type Content, html, type Markup, seriesLabel, tag, unseen } from "./markup.ts";

/** A result with all data for its charts. */
export interface DrawnResult {
  name: string;
  results: Results;
  /** Index of its colour, from 0; the same in every chart. */
  series: number;
  groups: readonly GroupScores[];
  readable: ReadableResult;
  figures: RunFigures;
}

type Scored = Pick<DrawnResult, "name" | "series" | "groups">;

const share = fixed(3);

/** Headings of the kinds of groups. */
const KINDS: Readonly<Record<string, string>> = { hops: "By hops", type: "By type" };

/**
 * Small multiples: one panel per metric, a line per group and result with dot and 95 % interval, all on one axis. Each is a table with the
 * marks in its cells, so it is readable without them.
 */
export function scorePanels(results: readonly Scored[]): Markup {
  const measured = Object.assign({}, ...results.map(({ groups }) => groups[0]?.metrics)) as object;
  const metrics = chartedMetrics({ ...measured });
  const ends = results.flatMap(({ groups }) =>
    groups.flatMap(({ metrics: values, intervals }) =>
      metrics.map((metric) => intervals[metric]?.[1] ?? values[metric] ?? 0),
    ),
  );
  const largest = Math.max(...ends, 0);
  const axis = axisTo(largest > 0.5 ? 1 : largest);
  const panels = metrics.map((metric) =>
    tag("div", { class: "card" }, panel(metric, results, axis)),
  );
  return tag("div", { class: "panels" }, panels);
}

function panel(metric: string, results: readonly Scored[], axis: Axis): Markup {
  const keys = new Map(
    results.flatMap(({ groups }) =>
      groups.map(({ kind, name }) => [`${kind}/${name}`, { kind, name }] as const),
    ),
  );
  let before = "all";
  const groups = [...keys.values()].map(({ kind, name }): HtmlGroup => {
    const isFirst = kind !== before;
    before = kind;
    return {
      title: isFirst ? (KINDS[kind] ?? `By ${kind}`) : undefined,
      side: name,
      rows: results.map((own) => {
        const group = own.groups.find((each) => each.kind === kind && each.name === name);
        const value = shownValue(group?.metrics ?? {}, metric);
        const interval = group?.intervals[metric] ?? null;
        return [
          orAbsent(group?.n, formatCount),
          dotWhisker({ value, interval, series: own.series }, axis),
          [ofResult(own, results), narrow(value, interval)],
        ];
      }),
    };
  });
  return renderHtml({
    caption: metricLabel(metric),
    isTitled: true,
    className: "panel",
    groups,
    columns: [
      unseenLabel("questions"),
      { label: "n", className: "number n" },
      { label: [tickLabels(axis), unseen("chart")], className: "chart" },
      unseenLabel(`${metricLabel(metric)} with 95 % interval`, "number"),
    ],
  });
}

/** The result's name for screen readers, which cannot see the colour. */
function ofResult({ name }: Scored, all: readonly unknown[]): Content {
  return all.length > 1 && unseen(`${name}: `);
}

/** A share with its interval in a narrow place. */
function narrow(value: number | null, interval: readonly [number, number] | null): Content {
  const ends = interval?.map((end) => formatShare(end)).join("–");
  return [measured(value, share), ends !== undefined && small(ends)];
}

/** Every metric of every result, in a table of numbers. */
export function metricTable(results: readonly Scored[]): Markup {
  const all = results.map(({ groups }) => groups[0]);
  const metrics = [...new Set(all.flatMap((own) => Object.keys(own?.metrics ?? {})))];
  return html`<details class="all-metrics">
    <summary>All ${metrics.length} metrics as numbers</summary>
    ${tag(
      "div",
      { class: "wide" },
      renderHtml({
        caption: "All metrics",
        className: "plain",
        columns: [
          "metric",
          ...results.map(({ name, series }) => ({
            label: seriesLabel(series, name),
            align: "right" as const,
          })),
        ],
        rows: metrics.map((metric) => [
          metricLabel(metric),
          ...all.map((own) =>
            measured(
              shownValue(own?.metrics ?? {}, metric),
              metricFormat(metric),
              own?.intervals[metric],
            ),
          ),
        ]),
      }),
    )}
  </details> `;
}

/** Draws by end reason, a bar per result; failures by code below. */
export function endTable(drawn: readonly DrawnResult[]): Content {
  const counts = drawn.map(({ readable }) => readable.files.results.ends);
  const totals = counts.map((own) => Object.values(own).reduce((sum, count) => sum + count, 0));
  const most = (end: string): number => Math.max(...counts.map((own) => own[end] ?? 0));
  const ends = [...new Set(counts.flatMap((own) => Object.keys(own)))].sort(
    (a, b) => most(b) - most(a),
  );
  const groups = ends.map((end): HtmlGroup => ({
    side: end,
    rows: drawn.map((own, i) => {
      const count = counts[i]?.[end] ?? 0;
      const of = count / Math.max(totals[i] ?? 0, 1);
      const number = [measured(of, formatPercent), small(formatCount(count))];
      return [shareBar(of, own.series), [ofResult(own, drawn), number]];
    }),
  }));
  return [
    tableCard({
      caption: "How trajectories ended",
      className: "panel",
      groups,
      columns: [
        unseenLabel("end"),
        unseenLabel("chart", "chart"),
        unseenLabel("share and number of draws", "number"),
      ],
    }),
    failureTable(drawn),
  ];
}

function failureTable(drawn: readonly DrawnResult[]): Content {
  const codes = [...new Set(drawn.flatMap(({ figures }) => Object.keys(figures.failures)))].sort();
  if (codes.length === 0) return null;
  const table = tableCard({
    caption: "Failures by code",
    className: "plain",
    columns: ["code", ...drawn.map(({ name }) => ({ label: name, format: formatCount }))],
    rows: codes.map((code) => [
      tag("code", {}, code),
      ...drawn.map(({ figures }) => figures.failures[code] ?? 0),
    ]),
  });
  return [html`<h3>Failures, not measured</h3>`, table];
}
