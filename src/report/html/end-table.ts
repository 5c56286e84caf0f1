import { shareBar } from "../charts/bar.ts";
import type { DrawnResult } from "./drawn-result.ts";
import { html, type Markup } from "./markup.ts";
import { percentText } from "./search-panels.ts";

/** Draws by how they ended, a bar per result; failures by code under it. */
export function endTable(drawn: readonly DrawnResult[]): Markup {
  const counts = drawn.map(({ readable }) => readable.files.results.ends);
  const totals = counts.map((own) => Object.values(own).reduce((sum, count) => sum + count, 0));
  const ends = [...new Set(counts.flatMap((own) => Object.keys(own)))].sort(
    (a, b) => most(counts, b) - most(counts, a),
  );
  const lines = ends.map((end) => {
    const cells = drawn.map(({ series, name }, i) => {
      const count = counts[i]?.[end] ?? 0;
      const share = count / Math.max(totals[i] ?? 0, 1);
      return html`<tr>
        ${i === 0 && html`<th scope="rowgroup" rowspan="${drawn.length}">${end}</th>`}
        <td class="chart">${shareBar(share, series)}</td>
        <td class="number">
          ${drawn.length > 1 && html`<span class="unseen">${name}: </span>`}<b
            >${percentText(share)}</b
          >
          <small>${count.toLocaleString("en")}</small>
        </td>
      </tr>`;
    });
    return html`<tbody>
      ${cells}
    </tbody>`;
  });
  return html`<div class="card ends-card">
      <table class="panel ends">
        <caption class="unseen">
          How trajectories ended
        </caption>
        <thead class="unseen">
          <tr>
            <th scope="col">end</th>
            <th scope="col">chart</th>
            <th scope="col">share and number of draws</th>
          </tr>
        </thead>
        ${lines}
      </table>
    </div>
    ${failureTable(drawn)}`;
}

function most(counts: readonly Record<string, number>[], end: string): number {
  return Math.max(...counts.map((own) => own[end] ?? 0));
}

function failureTable(drawn: readonly DrawnResult[]): Markup | null {
  const codes = [...new Set(drawn.flatMap(({ figures }) => Object.keys(figures.failures)))].sort();
  if (codes.length === 0) return null;
  return html`<h3>Failures, not measured</h3>
    <div class="wide">
      <table class="plain">
        <thead>
          <tr>
            <th scope="col">Code</th>
            ${drawn.map(({ name }) => html`<th scope="col" class="number">${name}</th>`)}
          </tr>
        </thead>
        <tbody>
          ${codes.map(
            (code) =>
              html`<tr>
                <th scope="row"><code>${code}</code></th>
                ${drawn.map(({ figures }) => html`<td class="number">${figures.failures[code] ?? 0}</td>`)}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
}
