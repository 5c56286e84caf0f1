import type { Arm, ArmComparisonBase } from "../runs/arms.ts";
import { runLabel } from "../runs/run-parts.ts";
import { armLabel } from "./arm-label.ts";
import { type Content, html, type Markup } from "./markup.ts";

/** Settings, versions and data that differ, and only those: first what makes the arms, then what does not. */
export function settingsTable({ arms, differences, conduct }: ArmComparisonBase): Markup {
  const making = differences.map(({ key, values }) => settingRow(key, values.map(valueCell)));
  const other = conduct.map(({ key, values }) =>
    settingRow(
      key,
      arms.map((arm, i) => valuesOfRuns(arm, values[i] ?? [])),
    ),
  );
  return html`<div class="card">
    <div class="wide">
      <table class="plain settings-table">
        <caption class="unseen">
          Settings that differ
        </caption>
        <thead>
          <tr>
            <th scope="col">setting</th>
            ${arms.map((arm) => html`<th scope="col">${armLabel(arm, arm.name)}</th>`)}
          </tr>
        </thead>
        ${
          making.length > 0 &&
          html`<tbody>
            ${making}
          </tbody>`
        }
        ${
          other.length > 0 &&
          html`<tbody>
            <tr class="group">
              <th colspan="${arms.length + 1}" scope="rowgroup">
                <span>Makes no arm: how runs are kept, watched, told of and divided</span>
              </th>
            </tr>
            ${other}
          </tbody>`
        }
      </table>
    </div>
  </div>`;
}

function settingRow(key: string, cells: readonly Content[]): Markup {
  return html`<tr>
    <th scope="row"><code>${breakable(key)}</code></th>
    ${cells.map((cell) => html`<td>${cell}</td>`)}
  </tr>`;
}

/** A key that may be broken after its dots. */
function breakable(key: string): Content {
  return key.split(".").map((part, i) => (i === 0 ? part : html`.<wbr />${part}`));
}

function valueCell(value: string | undefined): Content {
  return value === undefined ? "–" : html`<code>${cut(value)}</code>`;
}

/** One value where the runs of an arm agree, else each with the runs that have it. */
function valuesOfRuns(arm: Arm, values: readonly (string | undefined)[]): Content {
  const distinct = [...new Set(values)];
  if (distinct.length === 1) return valueCell(distinct[0]);
  return distinct.map((value) => {
    const runs = arm.runs.filter((_, i) => values[i] === value).map((run) => runLabel(arm, run));
    return html`<div class="of-runs">${valueCell(value)} <small>${runs.join(", ")}</small></div>`;
  });
}

/** Prompts may be pages long; of a checksum the beginning tells. */
function cut(text: string): string {
  if (/^[0-9a-f]{40,}$/.test(text)) return `${text.slice(0, 12)}…`;
  return text.length <= 300 ? text : `${text.slice(0, 299)}…`;
}
