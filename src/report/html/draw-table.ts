import { shareBar } from "../charts/bar.ts";
import { shownNumber } from "../metric-names.ts";
import type { Synthesis } from "../synthesis-files.ts";
import type { TriggerRate } from "../trigger-rates.ts";
import { html, type Markup } from "./markup.ts";
import { percentText } from "./search-panels.ts";

type Draw = Synthesis["draws"][number];

/** What each draw gave before any step. */
export function drawTable(draws: readonly Draw[]): Markup {
  const share = (value: number | null, series: number): Markup =>
    html`<td class="chart">${value !== null && shareBar(value, series)}</td>
      <td class="number">${value === null ? "–" : percentText(value)}</td>`;
  return html`<div class="card">
    <div class="wide">
      <table class="panel draws">
        <caption class="unseen">
          Draws
        </caption>
        <thead>
          <tr>
            <th scope="col">draw</th>
            <th scope="col" class="number">trajectories</th>
            <th scope="col" class="number">failed</th>
            <th scope="colgroup" colspan="2">used a tool</th>
            <th scope="colgroup" colspan="2">gave an answer</th>
            <th scope="col" class="number">searches</th>
            <th scope="col" class="number">reward</th>
          </tr>
        </thead>
        <tbody>
          ${draws.map(
            (draw, series) =>
              html`<tr>
                <th scope="row">${draw.name}</th>
                <td class="number">${draw.rollouts.toLocaleString("en")}</td>
                <td class="number">${draw.failed.toLocaleString("en")}</td>
                ${share(draw.toolRate, series)}${share(draw.answerRate, series)}
                <td class="number">${shownNumber(draw.searches, "amount")}</td>
                <td class="number">${shownNumber(draw.reward, "share")}</td>
              </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </div>`;
}

/** How often a tool was used where hints were put in and where none were; nothing where no draw had a hint. */
export function triggerTable(rates: readonly TriggerRate[], draws: readonly Draw[]): Markup | null {
  if (rates.every(({ hinted }) => hinted.trajectories === 0)) return null;
  const rows = rates.flatMap(({ draw, hinted, plain }, series) => {
    const { hints = {} } = draws.find(({ name }) => name === draw) ?? {};
    const kinds = Object.entries(hints).map(([name, number]) => `${name} ${number}`);
    const all: [label: string, of: number, used: number][] = [
      ["without a hint", plain.trajectories, plain.tools],
      [
        `with a hint${kinds.length === 0 ? "" : ` (${kinds.join(", ")})`}`,
        hinted.trajectories,
        hinted.tools,
      ],
      ["… after the first hint", hinted.trajectories, hinted.after],
    ];
    const shown = all.filter(([, of]) => of > 0);
    return shown.map(([label, of, used], i) =>
      rateRow({ draw, series, of, used, label, span: i === 0 ? shown.length : 0 }),
    );
  });
  return html`<h3>Tools with and without hints</h3>
    <div class="card">
      <div class="wide">
        <table class="panel triggers">
          <caption class="unseen">
            Trajectories that used a tool, with hints and without
          </caption>
          <thead>
            <tr>
              <th scope="col">draw</th>
              <th scope="col" class="what">trajectories</th>
              <th scope="col">used a tool</th>
              <th scope="col" class="number">share</th>
            </tr>
          </thead>
          ${rows}
        </table>
      </div>
    </div>`;
}

interface RateRow {
  draw: string;
  series: number;
  label: string;
  of: number;
  used: number;
  /** Rows that the draw's name stands before; 0: not in this one. */
  span: number;
}

function rateRow({ draw, series, label, of, used, span }: RateRow): Markup {
  const share = used / of;
  return html`<tr>
    ${span > 0 && html`<th scope="rowgroup" rowspan="${span}">${draw}</th>`}
    <td class="what">${label}</td>
    <td class="chart">${shareBar(share, series)}</td>
    <td class="number">
      <b>${percentText(share)}</b>
      <small>${used.toLocaleString("en")} of ${of.toLocaleString("en")}</small>
    </td>
  </tr>`;
}
