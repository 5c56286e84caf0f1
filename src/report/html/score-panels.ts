import { axisTo, tickLabels, type Axis } from "../charts/axis.ts";
import { dotWhisker } from "../charts/dot-whisker.ts";
import { metricLabel, PRIMARY_METRICS, shownNumber } from "../metric-names.ts";
import { rangeOf } from "../row-value.ts";
import type { GroupScores } from "../score-groups.ts";
import { type Content, html, type Markup } from "./markup.ts";

/** A result's scores as the panels take them. */
export interface ScoredResult {
  name: string;
  /** Its colour, from 0; the same in every chart. */
  series: number;
  groups: readonly GroupScores[];
}

/** Headings of what groups are by. */
const KINDS: Readonly<Record<string, string>> = { all: "", hops: "By hops", type: "By type" };

/**
 * Small multiples: one panel per metric, a line per group and result with dot and 95 % interval, all on one axis. Each is a table whose
 * cells hold the marks, so it reads without them too.
 */
export function scorePanels(results: readonly ScoredResult[]): Markup {
  const metrics = PRIMARY_METRICS.filter((metric) =>
    results.some((own) => isMeasured(own, metric)),
  );
  const ends = results.flatMap(({ groups }) =>
    groups.flatMap(({ metrics: values, intervals }) =>
      metrics.map((metric) => intervals[metric]?.[1] ?? values[metric] ?? 0),
    ),
  );
  const largest = Math.max(...ends, 0);
  const axis = axisTo(largest > 0.5 ? 1 : largest);
  return html`<div class="panels">${metrics.map((metric) => panel(metric, results, axis))}</div>`;
}

function isMeasured({ groups }: ScoredResult, metric: string): boolean {
  return typeof groups[0]?.metrics[metric] === "number";
}

function panel(metric: string, results: readonly ScoredResult[], axis: Axis): Markup {
  const groups = new Map<string, { kind: string; name: string }>();
  for (const { kind, name } of results.flatMap((own) => own.groups)) {
    groups.set(`${kind}/${name}`, { kind, name });
  }
  let before = "all";
  const bodies = [...groups.values()].map(({ kind, name }) => {
    const heading = kind === before ? null : (KINDS[kind] ?? `By ${kind}`);
    before = kind;
    return html`${
        heading !== null &&
        html`<tbody class="kind">
          <tr>
            <th colspan="4" scope="colgroup">${heading}</th>
          </tr>
        </tbody>`
      }
      <tbody>
        ${results.map((own, i) =>
          scoreLine({ own, first: i === 0, count: results.length }, { metric, kind, name }, axis),
        )}
      </tbody>`;
  });
  return html`<div class="card">
    <table class="panel">
      <caption>
        ${metricLabel(metric)}
      </caption>
      <thead>
        <tr>
          <th scope="col"><span class="unseen">questions</span></th>
          <th scope="col" class="number">n</th>
          <th scope="col">${tickLabels(axis)}<span class="unseen">chart</span></th>
          <th scope="col" class="number">
            <span class="unseen">${metricLabel(metric)} with 95 % interval</span>
          </th>
        </tr>
      </thead>
      ${bodies}
    </table>
  </div>`;
}

function scoreLine(
  { own, first, count }: { own: ScoredResult; first: boolean; count: number },
  { metric, kind, name }: { metric: string; kind: string; name: string },
  axis: Axis,
): Markup {
  const group = own.groups.find((each) => each.kind === kind && each.name === name);
  const value = group?.metrics[metric] ?? null;
  const interval = group?.intervals[metric] ?? null;
  const mark = dotWhisker({ value, interval, series: own.series }, axis);
  return html`<tr>
    ${first && html`<th scope="rowgroup" rowspan="${count}">${name}</th>`}
    <td class="number n">${group?.n.toLocaleString("en") ?? "–"}</td>
    <td class="chart">${mark}</td>
    <td class="number">
      ${count > 1 && html`<span class="unseen">${own.name}: </span>`}<b
        >${shownNumber(value, "share")}</b
      >
      ${intervalText(interval)}
    </td>
  </tr>`;
}

function intervalText(interval: readonly [number, number] | null): Content {
  if (interval === null) return null;
  const [low, high] = interval.map((end) => shownNumber(end, "share").replace(/^0\./, "."));
  return html`<small>${low ?? ""}–${high ?? ""}</small>`;
}

/** Every metric of every result, in a table of numbers. */
export function metricTable(results: readonly ScoredResult[]): Markup {
  const all = results.map(({ groups }) => groups[0]);
  const metrics = [...new Set(all.flatMap((own) => Object.keys(own?.metrics ?? {})))];
  const rows = metrics.map(
    (metric) =>
      html`<tr>
        <th scope="row">${metricLabel(metric)}</th>
        ${all.map((own) => {
          const value = own?.metrics[metric] ?? null;
          const interval = own?.intervals[metric] ?? null;
          const range = rangeOf(metric);
          return html`<td class="number">
            <b>${shownNumber(value, range)}</b> ${intervalText(interval)}
          </td>`;
        })}
      </tr>`,
  );
  return html`<details class="all-metrics">
    <summary>All ${metrics.length} metrics as numbers</summary>
    <div class="wide">
      <table class="plain">
        <thead>
          <tr>
            <th scope="col">Metric</th>
            ${results.map(({ name, series }) => html`<th scope="col" class="number"><span class="key s${series % 6}"></span>${name}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${rows}
        </tbody>
      </table>
    </div>
  </details> `;
}
