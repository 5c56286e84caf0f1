import { fixed, formatCount, formatInterval, formatPercent, orAbsent } from "../../base/format.ts";
import { axisTo } from "../charts/marks.ts";
import { columnChart, stepDots } from "../charts/columns.ts";
import type { RunFigures } from "../run-figures.ts";
import { renderHtml } from "./html-table.ts";
import { html, type Markup, seriesClass, seriesLabel, tag } from "./markup.ts";

/** A result's figures for the panels. */
export interface FiguredResult {
  name: string;
  series: number;
  figures: RunFigures;
}

const HEIGHT = 96;
const UNIT = { max: 1, ticks: [0, 0.5, 1] };
const share = fixed(3);

/** Search behaviour of policies: a row of small charts per result, with equal scales. */
export function searchPanels(results: readonly FiguredResult[]): Markup {
  const columns = Math.max(1, ...results.map(({ figures }) => figures.bySearches.length));
  const shares = results.flatMap(({ figures }) =>
    figures.bySearches.map((own) => own.draws / figures.draws),
  );
  const { max } = axisTo(Math.max(...shares, 0.01));
  return html`${results.map((own) =>
    tag(
      "div",
      { class: "behaviour" },
      results.length > 1 && tag("h3", {}, seriesLabel(own.series, own.name)),
      tag(
        "div",
        { class: "figures" },
        searchesFigure(own, columns, max),
        rightFigure(own, columns),
        evidenceFigure(own),
        duplicateFigure(own),
      ),
    ),
  )}`;
}

function stepsOf({ figures }: FiguredResult, columns: number): RunFigures["bySearches"] {
  return Array.from(
    { length: columns },
    (_, searches) =>
      figures.bySearches[searches] ?? { searches, draws: 0, em: null, interval: null },
  );
}

/** The last column counts eight or more. */
function searchLabels(columns: number): string[] {
  return Array.from({ length: columns }, (_, i) => (i === 8 ? "8+" : String(i)));
}

function searchesFigure(own: FiguredResult, columns: number, max: number): Markup {
  const { series, figures } = own;
  const steps = stepsOf(own, columns).map(({ searches, draws }) => {
    return { searches, draws, value: figures.draws === 0 ? 0 : draws / figures.draws };
  });
  const chart = columnChart(
    steps.map(({ draws, value }) => ({ value, label: draws === 0 ? "" : formatPercent(value) })),
    { labels: searchLabels(columns), axis: { max, ticks: [] }, height: HEIGHT, series },
  );
  const rows = steps.map(({ searches, draws, value }) => [
    ...[String(searches), formatCount(draws), formatPercent(value)],
  ]);
  return figure(["Searches per question", "share of questions, by number of searches"], chart, [
    ["searches", "questions", "share"],
    ...rows,
  ]);
}

function rightFigure(own: FiguredResult, columns: number): Markup {
  const steps = stepsOf(own, columns);
  const chart = stepDots(
    steps.map(({ em, interval }) => ({ value: em, interval })),
    {
      labels: searchLabels(columns),
      axis: UNIT,
      height: HEIGHT,
      series: own.series,
      joined: false,
    },
  );
  const rows = steps.map(({ searches, em, interval }) => [
    ...[String(searches), orAbsent(em, share), formatInterval(interval, share)],
  ]);
  return figure(["EM by number of searches", "with 95 % intervals over trajectories"], chart, [
    ["searches", "EM", "95 % interval"],
    ...rows,
  ]);
}

function evidenceFigure({ figures, series }: FiguredResult): Markup | null {
  const { byRound, draws } = figures.evidence;
  if (byRound.length === 0) return null;
  const labels = byRound.map((_, round) => (round === 0 ? "before" : String(round)));
  const chart = stepDots(
    byRound.map((value) => ({ value, interval: null })),
    { labels, axis: UNIT, height: HEIGHT, series, joined: true },
  );
  const remark = `share of gold passages seen, after each search; ${formatCount(draws)} trajectories`;
  const rows = byRound.map((value, round) => [String(round), share(value)]);
  return figure(["Evidence by search", remark], chart, [["searches", "recall"], ...rows]);
}

function duplicateFigure({ figures, series }: FiguredResult): Markup {
  const { searches, repeated, trajectories } = figures.duplicates;
  const found =
    searches === 0
      ? "no trajectory searched"
      : `${formatCount(repeated)} of ${formatCount(searches)} searches, in ${formatCount(trajectories)} of ${formatCount(figures.draws)} trajectories`;
  return html`<figure class="tile ${seriesClass(series)}">
    <figcaption>
      <b>Repeated queries</b> <span>asked before in the same trajectory</span>
    </figcaption>
    <p class="big">${orAbsent(searches === 0 ? null : repeated / searches, formatPercent)}</p>
    <p>${found}</p>
  </figure>`;
}

/** A chart with its numbers as a table for screen readers. */
function figure(
  [title, remark]: readonly [string, string],
  chart: Markup,
  [columns = [], ...rows]: readonly (readonly string[])[],
): Markup {
  return html`<figure>
    <figcaption><b>${title}</b> <span>${remark}</span></figcaption>
    ${chart}${renderHtml({ caption: title, className: "unseen", columns, rows })}
  </figure>`;
}
