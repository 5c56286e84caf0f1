import { axisTo } from "../charts/axis.ts";
import { columnChart, stepDots } from "../charts/columns.ts";
import { shownNumber } from "../metric-names.ts";
import type { RunFigures } from "../run-figures.ts";
import { html, type Markup } from "./markup.ts";

/** A result's figures as the panels take them. */
export interface FiguredResult {
  name: string;
  series: number;
  figures: RunFigures;
}

const HEIGHT = 96;

/** How policies searched: a row of small charts per result, alike in scale so that they can be compared. */
export function searchPanels(results: readonly FiguredResult[]): Markup {
  const columns = Math.max(1, ...results.map(({ figures }) => figures.bySearches.length));
  const shares = results.flatMap(({ figures }) =>
    figures.bySearches.map((own) => own.draws / figures.draws),
  );
  const most = axisTo(Math.max(...shares, 0.01));
  return html`${results.map(
    (own) =>
      html`<div class="behaviour">
        ${results.length > 1 && html`<h3><span class="key s${own.series % 6}"></span>${own.name}</h3>`}
        <div class="figures">
          ${[
            searchesFigure(own, columns, most.max),
            rightFigure(own, columns),
            evidenceFigure(own),
            duplicateFigure(own),
          ]}
        </div>
      </div> `,
  )}`;
}

function stepsOf({ figures }: FiguredResult, columns: number): RunFigures["bySearches"] {
  return Array.from({ length: columns }, (_, searches) => {
    const none = { searches, draws: 0, em: null, interval: null };
    return figures.bySearches[searches] ?? none;
  });
}

/** The last column holds everything from eight on. */
function searchLabels(columns: number): string[] {
  return Array.from({ length: columns }, (_, i) => (i === 8 ? "8+" : String(i)));
}

function searchesFigure(own: FiguredResult, columns: number, max: number): Markup {
  const steps = stepsOf(own, columns);
  const { draws } = own.figures;
  const values = steps.map(({ draws: count }) => ({
    value: draws === 0 ? 0 : count / draws,
    label: count === 0 ? "" : percentText(count / draws),
  }));
  const chart = columnChart(values, {
    ...{
      labels: searchLabels(columns),
      axis: { max, ticks: [] },
      height: HEIGHT,
      series: own.series,
    },
  });
  return figure("Searches per question", "share of questions, by number of searches", chart, {
    head: ["searches", "questions", "share"],
    rows: steps.map((step) => [
      String(step.searches),
      step.draws.toLocaleString("en"),
      percentText(draws === 0 ? 0 : step.draws / draws),
    ]),
  });
}

function rightFigure(own: FiguredResult, columns: number): Markup {
  const steps = stepsOf(own, columns);
  const chart = stepDots(
    steps.map(({ em, interval }) => ({ value: em, interval })),
    {
      ...{
        labels: searchLabels(columns),
        axis: UNIT,
        height: HEIGHT,
        series: own.series,
        joined: false,
      },
    },
  );
  return figure("EM by number of searches", "with 95 % intervals over trajectories", chart, {
    head: ["searches", "EM", "95 % interval"],
    rows: steps.map(({ searches, em, interval }) => [
      String(searches),
      shownNumber(em, "share"),
      interval === null ? "–" : interval.map((end) => shownNumber(end, "share")).join("–"),
    ]),
  });
}

const UNIT = { max: 1, ticks: [0, 0.5, 1] };

function evidenceFigure(own: FiguredResult): Markup | null {
  const { byRound, draws } = own.figures.evidence;
  if (byRound.length === 0) return null;
  const chart = stepDots(
    byRound.map((value) => ({ value, interval: null })),
    {
      ...{
        labels: byRound.map((_, round) => (round === 0 ? "before" : String(round))),
        axis: UNIT,
      },
      ...{ height: HEIGHT, series: own.series, joined: true },
    },
  );
  const note = `share of gold passages seen, after each search; ${draws.toLocaleString("en")} trajectories`;
  return figure("Evidence by search", note, chart, {
    head: ["searches", "recall"],
    rows: byRound.map((value, round) => [String(round), shownNumber(value, "share")]),
  });
}

function duplicateFigure({ figures, series }: FiguredResult): Markup {
  const { searches, repeated, trajectories } = figures.duplicates;
  const share = searches === 0 ? null : repeated / searches;
  const [again, all, inThese, draws] = [repeated, searches, trajectories, figures.draws].map(
    (count) => count.toLocaleString("en"),
  );
  const said =
    searches === 0
      ? "nothing was searched for"
      : `${again ?? ""} of ${all ?? ""} searches, in ${inThese ?? ""} of ${draws ?? ""} trajectories`;
  return html`<figure class="tile s${series % 6}">
    <figcaption>
      <b>Repeated queries</b> <span>asked before in the same trajectory</span>
    </figcaption>
    <p class="big">${share === null ? "–" : percentText(share)}</p>
    <p>${said}</p>
  </figure>`;
}

function figure(
  title: string,
  note: string,
  chart: Markup,
  numbers: { head: string[]; rows: string[][] },
): Markup {
  return html`<figure>
    <figcaption><b>${title}</b> <span>${note}</span></figcaption>
    ${chart}
    <table class="unseen">
      <caption>
        ${title}
      </caption>
      <thead>
        <tr>
          ${numbers.head.map((head) => html`<th scope="col">${head}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${numbers.rows.map(
          ([first = "", ...others]) =>
            html`<tr>
              <th scope="row">${first}</th>
              ${others.map((cell) => html`<td>${cell}</td>`)}
            </tr>`,
        )}
      </tbody>
    </table>
  </figure>`;
}

/** Whole percents, one decimal under ten. */
export function percentText(share: number): string {
  const value = share * 100;
  if (value === 0 || value === 100) return `${value} %`;
  return `${value.toFixed(value < 10 || value > 99 ? 1 : 0)} %`;
}
